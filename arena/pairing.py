"""Drawing the two contestants of a battle, and their sides."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Mapping, Sequence

from arena.errors import NoContestants
from arena.models import Compiled, Contestant, PairChance

Chances = Mapping[tuple[str, str], float]
"""(smaller id, larger id) -> how often the two should meet."""
_dice = secrets.SystemRandom()
_chances = Compiled(lambda pool: PairChance.objects.filter(pool=pool).values_list("one", "other", "chance"))


def written_chances(pool: str) -> Chances:
    """The chances that the rankings wrote last for this pool (`arena.kinds.Kind.pool`)."""
    return {(one, other): chance for one, other, chance in _chances(pool)}


def draw_pair(
    contestants: Sequence[Contestant],
    chances: Chances | None = None,
    can_meet: Callable[[str, str], bool] = lambda one, other: True,
) -> tuple[Contestant, Contestant]:
    """Two different contestants as (left, right). `can_meet`: whether two ids may be a pair.

    A pair that `chances` lacks, because a contestant is new, gets the average of the others. If it has none of the
    pairs, a pair's chance is the product of its contestants' `pairing_weight`. A negative or non-finite chance counts
    as 0. If all are 0, all pairs are equally likely.
    """
    pairs = [pair for pair in itertools.combinations(contestants, 2) if can_meet(pair[0].id, pair[1].id)]
    if not pairs:
        raise NoContestants
    weights = _weights(pairs, chances or {})
    pair = _dice.choices(pairs, weights)[0] if sum(weights) > 0 else _dice.choice(pairs)
    return pair if secrets.randbits(1) else (pair[1], pair[0])


def _weights(pairs: Sequence[tuple[Contestant, Contestant]], chances: Chances) -> list[float]:
    keys = [(min(one.id, other.id), max(one.id, other.id)) for one, other in pairs]
    known = [_chance(chances[key]) for key in keys if key in chances]
    if not known:
        return [_chance(one.pairing_weight) * _chance(other.pairing_weight) for one, other in pairs]
    average = sum(known) / len(known)
    return [_chance(chances[key]) if key in chances else average for key in keys]


def _chance(value: float) -> float:
    return value if math.isfinite(value) and value > 0 else 0.0
