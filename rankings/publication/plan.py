"""The plan of which contestants should meet in the next hour (`rankings.fit.pairing`), for the arena to draw by."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from django.db import transaction

from arena.kinds import Kind, Place
from arena.models import Contestant, PairChance
from rankings.fit.bradley_terry import MEAN, SCALE, Fit
from rankings.fit.pairing import Belief, exposure, plan
from rankings.votes.observed import votes_per_hour

LEAST_VOTES, MOST_VOTES = 20, 1000
"""Bounds of the number of votes that a plan is made for."""
Plan = dict[tuple[str, str], float]
"""Two ids, the smaller first -> how often they should meet."""
UNVOTED_VARIANCE = (2.0 * SCALE) ** 2
"""The variance of the rating of a policy without a vote, after one virtual game [Elo points squared]."""


class PairingPlan(NamedTuple):
    """Chances for the pairs of each pool, and each contestant's mean exposure over the pools that have a pair."""

    pools: dict[str, Plan]
    weights: dict[str, float]


def pairing_plan(kind: Kind, found: Fit) -> PairingPlan:
    """Of a kind, for the next hour. `found`: its global fit."""
    pools = _plans(kind, found)
    return PairingPlan(pools, _mean([exposure(chances) for chances in pools.values() if chances]))


def write_plan(kind: Kind, found: PairingPlan) -> None:
    """Store the chances, and the exposures as each contestant's `pairing_weight`."""
    with transaction.atomic():
        PairChance.objects.filter(one__kind=kind.id).delete()
        PairChance.objects.bulk_create(
            PairChance(pool=pool, one_id=one, other_id=other, chance=chance)
            for pool, chances in found.pools.items()
            for (one, other), chance in chances.items()
        )
        contestants = list(Contestant.objects.filter(kind=kind.id).only("id", "pairing_weight"))
        for contestant in contestants:
            contestant.pairing_weight = found.weights.get(contestant.id, 0.0 if found.weights else 1.0)
        Contestant.objects.bulk_update(contestants, ["pairing_weight"])


def _plans(kind: Kind, found: Fit) -> dict[str, Plan]:
    """By pool. Places where the same contestants may meet share a plan."""
    votes = min(MOST_VOTES, max(LEAST_VOTES, math.ceil(votes_per_hour(kind))))
    known: dict[tuple[str, ...], Plan] = {}
    pools = {}
    for setting, scenes in kind.places().items():
        for place in (Place(setting, scene) for scene in scenes):
            names = tuple(sorted(kind.eligible(place).values_list("id", flat=True)))
            if names not in known:
                known[names] = plan(_belief(found, names), names, votes)
            pools[kind.pool(place)] = known[names]
    return pools


def _mean(exposures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """By contestant; one in no pair of a pool has 0 there."""
    names = sorted({name for each in exposures for name in each})
    return {name: sum(each.get(name, 0.0) for each in exposures) / len(exposures) for name in names}


def _belief(found: Fit, contestants: Sequence[str]) -> Belief:
    """The fit, and contestants that have no vote yet."""
    new = [name for name in contestants if name not in found.names]
    size = len(found.names)
    covariance = np.eye(size + len(new)) * UNVOTED_VARIANCE
    covariance[:size, :size] = found.posterior
    return Belief((*found.names, *new), np.concatenate([found.rating, np.full(len(new), MEAN)]), covariance)
