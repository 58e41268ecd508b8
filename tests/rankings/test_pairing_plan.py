"""Which pairs are planned: those that make the ratings surest, a newcomer's above all, and nobody left out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankings.fit.bradley_terry import SCALE, fit
from rankings.fit.pairing import UNIFORM, Belief, exposure, plan
from rankings.tally.counts import Ballot, tally


def belief(votes: list[Ballot], names: str) -> Belief:
    found = fit(tally(votes, names=names))
    return Belief(found.names, found.rating, found.posterior)


def round_robin(names: str, each: int) -> list[Ballot]:
    outcomes = ("left_better", "right_better", "tie")
    return [Ballot(*pair, outcomes[n % 3]) for pair in itertools.combinations(names, 2) for n in range(each)]


def test_the_first_pick_is_the_one_that_shrinks_the_summed_variance_most() -> None:
    """Against brute force: the variance recomputed from the inverse for every pair that could be voted on next."""
    votes = round_robin("abcde", 2) + [Ballot("a", "b", "left_better")] * 9 + [Ballot("c", "d", "right_better")] * 5
    votes += [Ballot("b", "c", "left_better")] * 2
    known = belief(votes, "abcde")
    centring = np.eye(5) - 1 / 5

    def summed_after(i: int, j: int) -> float:
        p = 1 / (1 + np.exp(-(known.rating[i] - known.rating[j]) / SCALE))
        d = np.eye(5)[i] - np.eye(5)[j]
        after = np.linalg.inv(np.linalg.inv(known.covariance) + p * (1 - p) / SCALE**2 * np.outer(d, d))
        return float(np.trace(centring @ after @ centring))

    best = min(itertools.combinations(range(5), 2), key=lambda pair: summed_after(*pair))
    chances = plan(known, known.names, votes=1)
    assert max(chances, key=lambda pair: chances[pair]) == tuple(known.names[place] for place in best)
    assert max(chances.values()) == pytest.approx(1 - UNIFORM + UNIFORM / 10)


def test_chances_sum_to_one_and_leave_no_pair_out() -> None:
    chances = plan(belief(round_robin("abcdef", 3), "abcdef"), "abcdef", votes=40)
    assert len(chances) == 15
    assert sum(chances.values()) == pytest.approx(1.0)
    assert min(chances.values()) >= UNIFORM / 15 - 1e-12


def test_a_newcomer_meets_others_far_more_often_than_the_established() -> None:
    known = belief(round_robin("abcdefghi", 30), "abcdefghij")
    drawn = exposure(plan(known, known.names, votes=40))
    assert drawn["j"] > 3.0
    assert all(drawn[name] < 1.0 for name in "abcdefghi")


def test_equal_knowledge_of_all_pairs_gives_equal_chances() -> None:
    chances = plan(belief([], "abcd"), "abcd", votes=30)
    assert max(chances.values()) == pytest.approx(min(chances.values()))


def test_who_does_not_take_part_gets_no_pair_and_changes_no_key() -> None:
    known = belief(round_robin("abcd", 3), "abcd")
    assert set(plan(known, ["c", "a"], votes=5)) == {("a", "c")}
    assert plan(known, ["a"], votes=5) == {}
    assert plan(known, [], votes=5) == {}


def test_exposure_is_one_on_average() -> None:
    drawn = exposure(plan(belief(round_robin("abcde", 2), "abcde"), "abcde", votes=17))
    assert np.mean(list(drawn.values())) == pytest.approx(1.0)


def test_names_decide_nothing() -> None:
    votes = [*round_robin("abc", 4), Ballot("a", "d", "left_better")]
    renamed = dict(zip("abcd", "wxzy", strict=True))
    other = [Ballot(renamed[vote.left], renamed[vote.right], vote.outcome) for vote in votes]
    one, two = plan(belief(votes, "abcd"), "abcd", 25), plan(belief(other, "wxyz"), "wxyz", 25)
    for (left, right), chance in one.items():
        key = tuple(sorted((renamed[left], renamed[right])))
        assert two[(key[0], key[1])] == pytest.approx(chance)


def test_a_newcomer_beside_nine_reaches_a_half_width_of_60_within_260_votes() -> None:
    """Votes drawn as planned every twenty votes; ties are a quarter. The median of seven arenas."""
    needed = []
    for seed in range(7):
        rng = np.random.default_rng(seed)
        truth = dict(zip("abcdefghij", rng.normal(0, 150, 10), strict=True))
        votes = [vote for pair in itertools.combinations("abcdefghi", 2) for vote in _cast(rng, truth, pair, 40)]
        start = len(votes)
        while True:
            known = fit(tally(votes, names="abcdefghij"))
            if known.half_width[-1] < 60 or len(votes) - start >= 600:
                break
            chances = plan(Belief(known.names, known.rating, known.posterior), known.names, votes=20)
            picks = rng.choice(len(chances), size=20, p=list(chances.values()))
            for pick in picks:
                votes += _cast(rng, truth, list(chances)[pick], 1)
        needed.append(len(votes) - start)
    assert np.median(needed) <= 260, needed


def _cast(rng: np.random.Generator, truth: dict[str, float], pair: tuple[str, str], number: int) -> list[Ballot]:
    p = 1 / (1 + 10 ** ((truth[pair[1]] - truth[pair[0]]) / 400))
    tie = 0.5 * min(p, 1 - p)
    drawn = rng.choice(["left_better", "right_better", "tie"], size=number, p=[p - tie / 2, 1 - p - tie / 2, tie])
    return [Ballot(*pair, str(outcome)) for outcome in drawn]
