"""Who meets whom: two different active contestants, and a second coin for the side."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Sequence

from arena.errors import NoContestants
from policies.models import Policy

_dice = secrets.SystemRandom()


def draw_pair(contestants: Sequence[Policy]) -> tuple[Policy, Policy]:
    """Two different policies as (left, right).

    A pair's chance is the product of its policies' `pairing_weight`: with equal weights every pair is equally likely.
    Weights are chances, so a negative or non-finite one counts as 0; when that leaves no pair, all are equally likely.
    """
    pairs = list(itertools.combinations(contestants, 2))
    if not pairs:
        raise NoContestants
    weights = [_weight(one) * _weight(other) for one, other in pairs]
    pair = _dice.choices(pairs, weights)[0] if sum(weights) > 0 else _dice.choice(pairs)
    return pair if secrets.randbits(1) else (pair[1], pair[0])


def _weight(policy: Policy) -> float:
    return policy.pairing_weight if math.isfinite(policy.pairing_weight) and policy.pairing_weight > 0 else 0.0
