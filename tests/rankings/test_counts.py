"""Counting votes: what is kept of them, and what is forgotten on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.tally.counts import Ballot, records, tally
from tests.rankings.ballots import ballots, mirrored

SOME = ballots(("a", "b", "left_better", 3, "v1"), ("b", "a", "left_better", 2), ("a", "c", "tie", 1, "v2"))


def test_a_record_counts_each_outcome_from_the_policys_own_view() -> None:
    record = records(tally([*SOME, Ballot("c", "b", "both_bad")]))
    assert vars(record["a"]) == {"wins": 3, "losses": 2, "ties": 1, "both_bad": 0}
    assert vars(record["b"]) == {"wins": 2, "losses": 3, "ties": 0, "both_bad": 1}
    assert vars(record["c"]) == {"wins": 0, "losses": 0, "ties": 1, "both_bad": 1}


def test_the_win_rate_is_the_fraction_of_all_votes_that_were_won() -> None:
    votes = ballots(("a", "b", "left_better", 26), ("a", "b", "right_better", 10), ("a", "b", "tie", 6))
    record = records(tally(votes))
    assert round(record["a"].win_rate, 2) == 0.62


def test_a_policy_without_votes_has_a_win_rate_of_zero() -> None:
    record = records(tally([], names=["a"]))["a"]
    assert (record.votes, record.win_rate) == (0, 0.0)


def test_forgetting_the_sides_makes_a_vote_and_its_mirror_image_equal() -> None:
    one, other = tally(SOME).without_sides(), tally([mirrored(vote) for vote in SOME]).without_sides()
    for name in ("left", "right", "voter", "outcomes"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_votes_of_unknown_voters_are_kept_apart_from_those_of_known_ones() -> None:
    counts = tally(ballots(("a", "b", "tie", 2), ("a", "b", "tie", 5, "v1")))
    assert sorted(zip(counts.voter.tolist(), counts.outcomes[:, 2].tolist(), strict=True)) == [(-1, 2), (0, 5)]


def test_a_million_equal_votes_are_one_row() -> None:
    counts = tally(Ballot("a", "b", "tie", "v") for _ in range(1_000_000))
    assert (len(counts.left), counts.total) == (1, 1_000_000)


def test_a_cap_shares_its_weight_among_all_the_votes_of_a_voter() -> None:
    counts = tally(ballots(("a", "b", "tie", 30, "busy"), ("a", "c", "tie", 10, "busy"), ("a", "b", "tie", 3, "calm")))
    weights = dict(zip(zip(counts.right.tolist(), counts.voter.tolist(), strict=True), counts.weights(10), strict=True))
    assert weights == {(1, 0): 0.25, (2, 0): 0.25, (1, 1): 1.0}


def test_an_unknown_outcome_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="unknown outcome 'nan'; known: left_better, right_better, tie, both_bad"):
        tally([Ballot("a", "b", "nan")])


def test_a_policy_against_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="'a' against itself"):
        tally([Ballot("a", "a", "tie")])
