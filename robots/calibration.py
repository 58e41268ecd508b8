"""Calibration battles: they show voters an earlier battle again, to learn how consistent their votes are.

A *repeat* has the pair, first state, secret and instruction of an earlier battle of the same voter, with the sides
swapped. A visitor sees the first state before saying anything, so it is decided in two steps. When a battle opens, it
may begin where an earlier battle began (`seed_shown_again`). When the first instruction is that of the earlier battle,
too, the battle becomes its repeat if the pair drawn for it shares a contestant with the earlier one (`maybe_repeat`);
else it is what was drawn. Both steps take as many queries as in any other battle. `Battle.purpose` keeps what came of
it, which visitors never learn (decision: doubtful-votes).
"""

from __future__ import annotations

import secrets
from collections import Counter
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import FilteredRelation, Q, QuerySet

from arena.kinds import CalibrationBattle
from arena.models import Battle, Compiled, Purpose, Session
from arena.queue.hosting import Hosts
from simulation.matching import normalise

REMEMBERED = 100
"""How many of a visitor's last battles are looked at."""
GAP = 3
"""So many of the last votes are not repeated: the voter may remember them."""
MOST_SHOWN_AGAIN = 0.2
"""The largest share of a voter's battles that begin like an earlier one."""
_random = secrets.SystemRandom()


def seed_shown_again(session: Session) -> int | None:
    """The seed of an earlier battle of the visitor's, with which the session's next battle is to begin; else None.

    It depends on the visitor's past alone and not on contestants. No seed is shown more than twice, and likelier that
    of a battle whose words the visitor says often.
    """
    if session.user_id is None:
        return None
    past = _past_battles(session.user_id)
    voted = [battle for battle in past if battle.vote]
    shown = Counter(battle.seed for battle in past)
    said = Counter(battle.instruction for battle in voted)
    place = (session.setting, session.scene)
    fitting = [battle for battle in voted if battle.purpose == Purpose.RANK and (battle.setting, battle.scene) == place]
    earlier = [battle for battle in fitting[GAP:] if shown[battle.seed] == 1 and battle.second is None]
    repeats = sum(battle.purpose == Purpose.REPEAT for battle in voted)
    if not _due(settings.REPEAT_SHARE * (1 + len(voted)) - repeats) or not earlier:
        return None
    return int(_random.choices(earlier, [said[battle.instruction] for battle in earlier])[0].seed)


def maybe_repeat(battle: Battle, instruction: str, hosts: Hosts) -> CalibrationBattle | None:
    """The repeat that this battle becomes with its first instruction, or None. Only hosted policies are repeated.

    Policies that the voter has not seen in this scene with these words stay as they were drawn. Whoever recognises the
    scene therefore learns only which battles count nowhere, as from the policies' moves.
    """
    earlier = _begun_alike(battle)
    if earlier is None or normalise(earlier.instruction or "") != normalise(instruction):
        return None
    return CalibrationBattle.repeat(earlier, battle, hosts, start=earlier)


class PastBattle(NamedTuple):
    """A battle, its first instruction, and whether it went on: the key of its second turn, else None."""

    battle_id: str
    left_model_id: str
    right_model_id: str
    secret: str
    seed: int
    purpose: str
    setting: str
    scene: str
    vote: str | None
    instruction: str | None
    second: int | None


def _past_battles(visitor: str) -> list[PastBattle]:
    """The visitor's last battles, newest first. One query."""
    return [PastBattle(*row) for row in _past(visitor)]


def _past_rows(visitor: str) -> QuerySet[Battle, tuple[Any, ...]]:
    battles = Battle.objects.filter(session__user_id=visitor).annotate(
        first=FilteredRelation("turns", condition=Q(turns__seq=1)),
        second=FilteredRelation("turns", condition=Q(turns__seq=2, turns__is_fork=False)),
    )
    own = ("battle_id", "left_model_id", "right_model_id", "secret", "seed", "purpose")
    joined = ("session__setting", "session__scene", "vote__vote", "first__instruction", "second__pk")
    return battles.order_by("-pk").values_list(*own, *joined)[:REMEMBERED]


_past = Compiled(_past_rows)


def _begun_alike(battle: Battle) -> PastBattle | None:
    """The visitor's first voted ranking battle of one turn that this battle begins like, of those remembered."""
    session = battle.session
    if session.user_id is None:
        return None
    begun = (session.setting, session.scene, battle.seed)
    alike = [
        past
        for past in _past_battles(session.user_id)
        if (past.setting, past.scene, past.seed) == begun and past.vote and past.purpose == Purpose.RANK
        if past.second is None and past.battle_id != battle.battle_id
    ]
    return alike[-1] if alike else None


def _due(missing: float) -> bool:
    """Whether to show an earlier beginning now, when so many repeats are `missing` from the wanted share."""
    return _random.random() < min(missing, MOST_SHOWN_AGAIN)
