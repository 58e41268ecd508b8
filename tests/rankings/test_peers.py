"""Where other packages are sound, they give the same ratings; known ones of theirs: tests/rankings/data/README.md."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import evalica
import numpy as np
import pytest

from rankings.files.vote_file import read_votes
from rankings.fit.bradley_terry import fit
from rankings.tally.counts import OUTCOMES, Ballot, tally
from tests.rankings.ballots import ballots
from tests.rankings.test_bradley_terry import season

DATA = Path(__file__).parent / "data"
WINNERS = dict(
    zip(OUTCOMES, (evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw, evalica.Winner.Draw), strict=True)
)
CLOSE = 1e-6
"""Elo points."""
KNOWN = 0.05
"""Elo points: the other packages' answers of another day are kept with fewer digits."""


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


def with_a_virtual_game(votes: Sequence[Ballot]) -> list[Ballot]:
    """A prior, said with votes alone: everybody drew once against somebody who stands for the mean."""
    names = sorted({name for vote in votes for name in (vote.left, vote.right)})
    return [*votes, *(Ballot(name, "the mean", "tie") for name in names)]


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


HARD = {
    "one vote": ballots(("a", "b", "left_better", 1)),
    "ties alone": ballots(("a", "b", "tie", 10)),
    "one who won all": ballots(
        ("a", "b", "left_better", 10), ("b", "c", "left_better", 5), ("c", "b", "left_better", 5)
    ),
    "one who lost all": ballots(("b", "a", "left_better", 300), ("b", "c", "tie", 7)),
    "islands": ballots(("a", "b", "left_better", 20), ("b", "a", "left_better", 3), ("c", "d", "both_bad", 2)),
}


@pytest.mark.parametrize(
    "votes", [*HARD.values(), season(), random_votes(2, 10, 2000, 0.35)], ids=[*HARD, "more", "many"]
)
def test_with_the_prior_they_are_those_of_evalica_with_the_same_games(votes: list[Ballot]) -> None:
    """Also of those on which other packages alone print nonsense, island by island."""
    found, theirs = fit(tally(votes)), by_evalica(with_a_virtual_game(votes))
    theirs = {name: score - theirs["the mean"] for name, score in theirs.items()}
    for component in found.components():
        places = [found.names.index(name) for name in component]
        mean = sum(found.weight[place] * theirs[name] for place, name in zip(places, component, strict=True))
        wanted = [1500.0 + theirs[name] - mean for name in component]
        np.testing.assert_allclose(found.rating[places], wanted, atol=CLOSE)


def test_a_prior_moves_ratings_by_more_than_the_packages_differ() -> None:
    found = fit(tally(season()))
    assert apart(dict(zip(found.names, found.rating.tolist(), strict=True)), by_evalica(season())) > CLOSE


@pytest.mark.parametrize("package", ["arena-rank", "evalica"])
def test_ratings_are_the_known_ones_of_other_packages(package: str) -> None:
    found = fit(read_votes(DATA / "peer_votes.csv").counts(), prior=0)
    known = json.loads((DATA / "peer_ratings.json").read_text())[package]
    assert apart(dict(zip(found.names, found.rating.tolist(), strict=True)), known["ratings"]) < KNOWN
