"""Timings for `make bench`: the leaderboard call and the fit from counts. Leaves no row behind."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.test import Client

from arena import kinds
from rankings.fit.bradley_terry import fit
from rankings.fit.ratings import CAP
from rankings.models import ModelStatsTotal
from rankings.study.voters import Crowd, Scenario, simulate, truth
from rankings.tally.counts import Columns, Counts

POLICIES = 50
VOTES = 1_000_000
VOTERS = 100_000


@dataclass(frozen=True)
class CallTiming:
    """Milliseconds of one call."""

    fastest_ms: float
    median_ms: float
    p95_ms: float

    @classmethod
    def of(cls, call: Callable[[], object], repeats: int) -> CallTiming:
        call()  # the first one warms caches
        taken = []
        for _ in range(repeats):
            start = time.perf_counter()
            call()
            taken.append(1000.0 * (time.perf_counter() - start))
        return cls(min(taken), statistics.median(taken), float(np.percentile(taken, 95)))


def measure() -> dict[str, CallTiming]:
    """`leaderboard`: the whole call with 50 policies. `fit`: ratings and intervals from the counts of 1e6 votes.

    `fit_of_1000`: the same votes on 1000 policies, two on each pair. `fit_by_voter`: the same as `fit` with votes of
    VOTERS voters, clustered and capped. `fit_100k_by_voter`: a tenth of these votes, on 30 policies.
    """
    counts, by_voter, fewer = _counts(), _counts_by_voter(), _counts_by_voter(30, VOTES // 10, VOTERS // 10)
    many = _counts(1000)
    return {
        "leaderboard": _leaderboard_of_fifty(),
        "fit": CallTiming.of(lambda: fit(counts), 20),
        "fit_of_1000": CallTiming.of(lambda: fit(many), 5),
        "fit_by_voter": CallTiming.of(lambda: fit(by_voter, cap=CAP), 5),
        "fit_100k_by_voter": CallTiming.of(lambda: fit(fewer, cap=CAP), 20),
    }


def time_leaderboard(repeats: int) -> CallTiming:
    """`GET /api/leaderboard` through all middleware, on the current database."""
    client = Client(headers={"host": "localhost"})

    def call() -> None:
        answer = client.get("/api/leaderboard")
        if answer.status_code != 200:
            raise RuntimeError(f"the leaderboard answered {answer.status_code}")

    return CallTiming.of(call, repeats)


def _leaderboard_of_fifty() -> CallTiming:
    with transaction.atomic():
        registry = kinds.default().contestants()
        policies = [
            registry.create(id=f"bench-{number}", name=f"Bench {number}", family="bench", kind=kinds.default().id)
            for number in range(POLICIES)
        ]
        ModelStatsTotal.objects.bulk_create(
            ModelStatsTotal(model=policy, elo_score=1400 + number, vote_count=100)
            for number, policy in enumerate(policies)
        )
        found = time_leaderboard(100)
        transaction.set_rollback(True)
    return found


def _counts(policies: int = POLICIES) -> Counts:
    """Outcome counts of about VOTES random votes; the policy with the smaller number wins more often."""
    rng = np.random.default_rng(0)
    left, right = np.triu_indices(policies, 1)
    per_pair = VOTES // len(left)
    outcomes = rng.multinomial(per_pair, [0.4, 0.3, 0.2, 0.1], size=len(left))
    names = tuple(f"policy-{number:03}" for number in range(policies))
    zeros = np.zeros_like(left)
    return Counts.of(names, Columns(left, right, zeros - 1, zeros, zeros, outcomes))


def _counts_by_voter(policies: int = POLICIES, votes: int = VOTES, voters: int = VOTERS) -> Counts:
    rng = np.random.default_rng(0)
    setting = Scenario(contestants=policies, votes=votes, crowd=Crowd(voters=voters))
    return simulate(truth(policies, rng), setting, rng)
