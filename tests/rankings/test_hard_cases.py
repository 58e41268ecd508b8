"""Votes on which other ranking libraries print nonsense: a defined, sensible answer each."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from rankings.fit.bradley_terry import fit, side_advantage
from rankings.fit.ratings import Options, Rating, Ratings, board_ratings
from rankings.tally.counts import Ballot, tally
from tests.rankings.ballots import ballots

EVEN = (("b", "c", "left_better", 5), ("b", "c", "right_better", 5))


def ratings(cast: Iterable[Ballot], options: Options) -> Ratings:
    return board_ratings(tally(cast), options)


def rated(*groups: tuple[object, ...], prior: float = 1) -> dict[str, Rating]:
    return ratings(ballots(*groups), Options(prior=prior))["models"]


def test_no_votes_give_no_ratings() -> None:
    assert ratings([], Options()) == {"models": {}, "components": [], "side_advantage": None}
    assert side_advantage(tally([])) is None


def test_one_vote_leaves_both_provisional_without_a_rank_and_with_a_wide_interval() -> None:
    for row in rated(("a", "b", "left_better", 1)).values():
        assert (row["provisional"], row["rank_low"], row["rank_high"]) == (True, None, None)
        assert "few_votes" in row["flags"]
        assert row["low"] is not None
        assert row["high"] is not None
        assert row["high"] - row["low"] > 600


@pytest.mark.parametrize("outcome", ["tie", "both_bad"])
def test_ten_ties_leave_both_at_the_mean_with_an_honest_interval(outcome: str) -> None:
    for row in rated(("a", "b", outcome, 10)).values():
        assert row["rating"] == 1500
        assert row["low"] == pytest.approx(1395, abs=1)
        assert (row["rank_low"], row["rank_high"]) == (1, 2)


def test_many_ties_with_a_few_wins_make_the_interval_narrow_and_keep_it_positive() -> None:
    few = rated(("a", "b", "tie", 10), ("a", "b", "left_better", 2), ("a", "b", "right_better", 2))["a"]
    many = rated(("a", "b", "tie", 1000), ("a", "b", "left_better", 20), ("a", "b", "right_better", 20))["a"]
    assert few["high"] is not None
    assert many["high"] is not None
    assert few["high"] - 1500 > 40 > many["high"] - 1500 > 1


def test_among_ties_a_few_more_decisive_votes_never_make_the_interval_jump() -> None:
    widths = [
        float(
            fit(
                tally(ballots(("a", "b", "tie", 30), ("a", "b", "left_better", n), ("b", "a", "left_better", n)))
            ).half_width[0]
        )
        for n in range(12)
    ]
    assert all(0.75 < after / before < 1.25 for before, after in itertools.pairwise(widths))


def test_a_vote_pattern_on_the_edge_of_trust_gives_the_same_width_under_other_names() -> None:
    votes = [
        ("b", "c", "tie", 2),
        ("c", "b", "left_better", 1),
        ("a", "b", "left_better", 4),
        ("b", "a", "left_better", 1),
    ]
    swap = {"a": "a", "b": "c", "c": "b"}
    one = fit(tally(ballots(*votes)), prior=0)
    other = fit(tally(ballots(*[(swap[left], swap[right], *rest) for left, right, *rest in votes])), prior=0)
    np.testing.assert_allclose(one.half_width, other.half_width[[0, 2, 1]])


def test_a_policy_that_won_all_is_on_top_with_a_wide_interval_and_says_so() -> None:
    rows = rated(("a", "b", "left_better", 10), *EVEN)
    assert rows["a"]["rating"] > rows["b"]["rating"] + 300
    assert rows["a"]["flags"] == ["no_upper_bound"]
    assert rows["a"]["high"] is not None
    assert rows["a"]["high"] - rows["a"]["rating"] > 300
    assert rows["b"]["flags"] == rows["c"]["flags"] == ["no_lower_bound"]
    assert abs(rows["b"]["rating"] - rows["c"]["rating"]) < 30


def test_a_million_wins_without_a_loss_stay_finite() -> None:
    found = fit(tally(ballots(("a", "b", "left_better", 1_000_000))))
    assert np.isfinite(found.rating).all()
    assert (found.half_width > 200).all()


def test_two_islands_are_two_components_without_an_order_between_them() -> None:
    found = ratings(
        ballots(("a", "b", "left_better", 20), ("a", "b", "right_better", 2), ("c", "d", "left_better", 11)), Options()
    )
    assert found["components"] == [["a", "b"], ["c", "d"]]
    ranges = {name: (row["rank_low"], row["rank_high"]) for name, row in found["models"].items()}
    assert ranges == {"a": (1, 1), "b": (2, 2), "c": (1, 1), "d": (2, 2)}


def test_without_a_prior_only_those_compare_who_scored_against_each_other() -> None:
    found = ratings(ballots(("a", "b", "left_better", 10), *EVEN), Options(prior=0))
    assert found["components"] == [["b", "c"], ["a"]]
    assert found["models"]["a"]["high"] is None
    assert found["models"]["b"]["rating"] == 1500


def test_one_tie_is_enough_to_bring_two_policies_together_without_a_prior() -> None:
    rows = rated(("a", "b", "left_better", 10), ("a", "b", "tie", 1), prior=0)
    assert rows["a"]["rating"] - rows["b"]["rating"] == pytest.approx(400 * np.log10(21), abs=0.02)
    assert rows["a"]["flags"] == []


def test_a_chain_of_wins_is_put_in_its_order() -> None:
    rows = rated(*[(left, right, "left_better", 8) for left, right in ("ab", "bc", "cd")])
    assert [row["rating"] for row in rows.values()] == sorted((row["rating"] for row in rows.values()), reverse=True)


def test_a_circle_of_wins_puts_nobody_ahead() -> None:
    rows = rated(*[(left, right, "left_better", 8) for left, right in ("ab", "bc", "ca")])
    assert [row["rating"] for row in rows.values()] == pytest.approx([1500] * 3)


def test_one_voter_alone_is_rated_as_if_the_votes_were_independent() -> None:
    groups = [("a", "b", "left_better", 30), ("a", "b", "right_better", 20), ("b", "c", "tie", 9)]
    alone = fit(tally(ballots(*[(*group, "v1") for group in groups])))
    np.testing.assert_allclose(alone.half_width, fit(tally(ballots(*groups)), cluster=False).half_width)


def test_votes_stuffed_by_one_voter_move_little_under_a_cap() -> None:
    honest = [(left, right, "left_better", 1, f"v{n}") for n in range(100) for left, right in ("ab", "ba")]
    stuffed = ballots(*honest, ("b", "a", "left_better", 250, "stuffer"))
    free = ratings(stuffed, Options(cap=0))["models"]
    capped = ratings(stuffed, Options(cap=5))["models"]
    assert free["b"]["rating"] > 1580
    assert capped["b"]["rating"] < 1510
    assert capped["b"]["votes"] == 450


def test_a_prior_or_a_cap_below_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a number from 0"):
        Options(prior=-1)
    with pytest.raises(ValueError, match="expected a number from 0"):
        Options(prior=float("nan"))
    with pytest.raises(ValueError, match="expected a whole number from 0"):
        Options(cap=-1)
