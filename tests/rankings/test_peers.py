"""Where other packages are sound, they give the same ratings; known ones of theirs: tests/rankings/data/README.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

import evalica
import numpy as np
import pytest

from rankings.bradley_terry import fit
from rankings.counts import OUTCOMES, Ballot, tally
from rankings.vote_file import read_votes
from tests.rankings.ballots import ballots
from tests.rankings.test_bradley_terry import season

DATA = Path(__file__).parent / "data"
WINNERS = dict(
    zip(OUTCOMES, (evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.Draw), strict=True)
)
CLOSE = 0.05
"""Elo points."""


def random_votes(seed: int, policies: int, votes: int, tie_share: float) -> list[Ballot]:
    rng = np.random.default_rng(seed)
    names = [f"p{number}" for number in range(policies)]
    ability = rng.normal(0.0, 1.0, policies)
    found = []
    for _ in range(votes):
        left, right = rng.choice(policies, 2, replace=False).tolist()
        wins = rng.random() < 1.0 / (1.0 + math.exp(ability[right] - ability[left]))
        decided = "left_better" if wins else "right_better"
        outcome = rng.choice(["tie", "both_bad"]) if rng.random() < tie_share else decided
        found.append(Ballot(names[left], names[right], str(outcome)))
    return found


def by_evalica(votes: Iterable[Ballot]) -> dict[str, float]:
    lefts, rights, winners = zip(*((vote.left, vote.right, WINNERS[vote.outcome]) for vote in votes), strict=True)
    found = evalica.bradley_terry(list(lefts), list(rights), list(winners), tolerance=1e-12, limit=100_000)
    return {name: 400.0 * math.log10(score) for name, score in found.scores.items()}


def apart(one: dict[str, float], other: dict[str, float]) -> float:
    """The largest difference [Elo points], both about their own mean."""
    assert one.keys() == other.keys()
    difference = np.array([one[name] - other[name] for name in one])
    return float(np.abs(difference - difference.mean()).max())


def ours(votes: Iterable[Ballot]) -> dict[str, float]:
    """Without a prior, which the others do not have."""
    found = fit(tally(votes), prior=0)
    return dict(zip(found.names, found.rating.tolist(), strict=True))


@pytest.mark.parametrize(
    "votes",
    [
        season(),
        random_votes(1, 3, 40, 0.0),
        random_votes(2, 10, 2000, 0.35),
        random_votes(3, 20, 400, 0.6),
        ballots(("a", "b", "left_better", 999), ("a", "b", "right_better", 1), ("b", "c", "tie", 5)),
    ],
    ids=["baseball", "few votes", "many votes", "mostly ties", "far apart"],
)
def test_ratings_are_those_of_evalica(votes: list[Ballot]) -> None:
    assert apart(ours(votes), by_evalica(votes)) < CLOSE


def test_a_prior_moves_ratings_by_more_than_the_packages_differ() -> None:
    found = fit(tally(season()))
    assert apart(dict(zip(found.names, found.rating.tolist(), strict=True)), by_evalica(season())) > CLOSE


@pytest.mark.parametrize("package", ["arena-rank", "evalica"])
def test_ratings_are_the_known_ones_of_other_packages(package: str) -> None:
    found = fit(read_votes(DATA / "peer_votes.csv").counts(), prior=0)
    known = json.loads((DATA / "peer_ratings.json").read_text())[package]
    assert apart(dict(zip(found.names, found.rating.tolist(), strict=True)), known["ratings"]) < CLOSE
