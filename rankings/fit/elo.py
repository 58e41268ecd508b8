"""The classic Elo, vote by vote. It depends on the order of the votes, so Bradley-Terry ranks instead."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from rankings.tally.counts import OUTCOMES, Ballot

START = 1500
K = 32
SCORES = {"left_better": (1.0, 0.0), "right_better": (0.0, 1.0), "tie": (0.5, 0.5), "both_bad": (0.25, 0.25)}
"""What an outcome is worth to (left, right). both_bad costs both sides, so that the sum of all ratings falls."""


def expected(rating: float, opponent: float) -> float:
    """The score that `rating` should make against `opponent`: 0.5 between equals, 10/11 with 400 points more."""
    return 1.0 / (1.0 + math.pow(10.0, (opponent - rating) / 400.0))


def updated(left: int, right: int, outcome: str) -> tuple[int, int]:
    """Both ratings after one vote, each rounded to a whole point. Raises ValueError for an unknown outcome."""
    if outcome not in SCORES:
        raise ValueError(f"unknown outcome {outcome!r}; known: {', '.join(OUTCOMES)}")
    left_score, right_score = SCORES[outcome]
    return (
        round(left + K * (left_score - expected(left, right))),
        round(right + K * (right_score - expected(right, left))),
    )


def sequential_elo(ballots: Iterable[Ballot], start: Mapping[str, int] | None = None) -> dict[str, int]:
    """Ratings after all votes, taken in the order given, from `start`; everybody else starts at START."""
    ratings: dict[str, int] = dict(start or {})
    for ballot in ballots:
        left, right = ratings.get(ballot.left, START), ratings.get(ballot.right, START)
        ratings[ballot.left], ratings[ballot.right] = updated(left, right, ballot.outcome)
    return ratings
