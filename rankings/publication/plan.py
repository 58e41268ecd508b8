"""Writing down who should meet whom in the next hour (`rankings.fit.pairing`), for the arena to draw by."""

from __future__ import annotations

import math

import numpy as np
from django.db import transaction

from arena.models import Contestant, PairChance
from rankings.fit.bradley_terry import MEAN, SCALE, Fit
from rankings.fit.pairing import Belief, exposure, plan
from rankings.votes.observed import votes_per_hour

LEAST_VOTES, MOST_VOTES = 20, 1000
"""For so many votes at least and at most a plan is made, whatever the last day brought."""
UNVOTED_VARIANCE = (2.0 * SCALE) ** 2
"""What one virtual game leaves open about a policy without a vote [Elo points squared]."""


def write_plan(found: Fit) -> dict[str, float]:
    """Write chances for all contestants' pairs, and each policy's `pairing_weight`; returns those weights."""
    contestants = sorted(Contestant.objects.contestants().values_list("id", flat=True))
    votes = min(MOST_VOTES, max(LEAST_VOTES, math.ceil(votes_per_hour())))
    chances = plan(_belief(found, contestants), contestants, votes)
    weights = exposure(chances)
    with transaction.atomic():
        PairChance.objects.all().delete()
        PairChance.objects.bulk_create(
            PairChance(one_id=one, other_id=other, chance=chance) for (one, other), chance in chances.items()
        )
        policies = list(Contestant.objects.only("id", "pairing_weight"))
        for policy in policies:
            policy.pairing_weight = weights.get(policy.id, 0.0 if weights else 1.0)
        Contestant.objects.bulk_update(policies, ["pairing_weight"])
    return weights


def _belief(found: Fit, contestants: list[str]) -> Belief:
    """The fit, with those contestants added that have no vote yet."""
    new = [name for name in contestants if name not in found.names]
    size = len(found.names)
    covariance = np.eye(size + len(new)) * UNVOTED_VARIANCE
    covariance[:size, :size] = found.posterior
    return Belief((*found.names, *new), np.concatenate([found.rating, np.full(len(new), MEAN)]), covariance)
