"""What a day's visit weighs: one cap per voter and per network, known voters first, newcomers little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankings.fit.bradley_terry import fit
from rankings.tally.table import VoteTable
from rankings.tally.visits import shares
from rankings.tally.weights import DAYS, NEWCOMER, PROVEN, Answers, answer, clear_winner, trust

CAP = 15
DAY, EARLIER = "2026-01-02", "2026-01-01"
Vote = tuple[str, str, str, int]
"""Voter, day, network, and how many."""


def table(*votes: Vote) -> VoteTable:
    """Votes for a against b."""
    rows = [("widowx", "table", "", "a", "b", voter, day, network, n, 0, 0, 0) for voter, day, network, n in votes]
    return VoteTable.of(rows)


def weight(found: VoteTable, voter: str, cap: int = CAP) -> float:
    """Of all votes of a voter together."""
    counts = found.counts()
    number = found.numbers_of([voter])[0]
    weights = counts.weights(cap) * counts.votes
    return float(weights[counts.voter == number].sum())


def trusting(found: VoteTable, **right: int) -> VoteTable:
    """All have answered enough calibration battles, or as many as is said."""
    answers = {voter: Answers(right=right.get(voter, PROVEN)) for voter in found.values["voter"]}
    return found.trusting(answers)


def test_without_a_network_only_the_visitor_is_capped() -> None:
    found = table(("one", DAY, "", 30), ("two", DAY, "", 5)).trusting({})
    assert (weight(found, "one"), weight(found, "two")) == (15, 5)


def test_voters_of_one_network_share_one_cap_evenly_and_nobody_gets_more_than_asked_for() -> None:
    both = [(voter, day, "net", n) for day in (EARLIER, DAY) for voter, n in (("one", 40), ("two", 40), ("few", 3))]
    found = trusting(table(*both))
    assert [weight(found, voter) for voter in ("one", "two", "few")] == pytest.approx([12, 12, 6])


def test_voters_known_from_earlier_days_come_first() -> None:
    found = table(("old", EARLIER, "home", 1), ("old", DAY, "net", 12), *[(f"new{n}", DAY, "net", 5) for n in range(6)])
    counts = found.counts()
    new = [weight(found, f"new{n}") for n in range(6)]
    assert weight(found, "old") == pytest.approx(13)
    assert new == pytest.approx([0.5] * 6)
    assert counts.total == 43


def test_a_network_has_one_cap_each_day() -> None:
    crowd = [(f"v{n}", day, "net", 15) for n in range(4) for day in (EARLIER, DAY)]
    found = trusting(table(*crowd))
    assert sum(weight(found, f"v{n}") for n in range(4)) == pytest.approx(2 * CAP)


def test_a_voter_who_comes_by_two_networks_in_a_day_is_one_visitor() -> None:
    found = table(("one", DAY, "a", 20), ("one", DAY, "b", 10), ("two", DAY, "a", 15), ("three", DAY, "b", 15))
    assert weight(found, "one") == pytest.approx(7.5)
    assert weight(found, "three") == pytest.approx(15)


def test_newcomers_weigh_little_and_those_who_proved_themselves_weigh_in_full_for_earlier_votes_too() -> None:
    votes = table(("new", DAY, "a", 10), ("back", EARLIER, "b", 10), ("back", DAY, "b", 10), ("lab", DAY, "", 10))
    found = trusting(votes)
    assert weight(found, "new") == pytest.approx(10 * NEWCOMER)
    assert weight(found, "back") == pytest.approx(20)
    assert weight(found, "lab") == pytest.approx(10)
    assert weight(trusting(votes, back=1), "back") == pytest.approx(20 * trust(Answers(right=1), DAYS))


def test_the_cap_of_a_network_comes_before_trust_so_that_a_thousand_new_cookies_weigh_less_than_one_vote() -> None:
    found = table(*[(f"v{n:04}", DAY, "net", 1) for n in range(1000)]).trusting({})
    counts = found.counts()
    assert (counts.weights(CAP) * counts.votes).sum() == pytest.approx(CAP * NEWCOMER)
    assert CAP * NEWCOMER < 1


def test_without_a_cap_trust_still_counts() -> None:
    found = table(("new", DAY, "a", 40), ("other", DAY, "a", 40)).trusting({})
    assert weight(found, "new", cap=0) == pytest.approx(40 * NEWCOMER)


def test_trust_grows_with_right_answers_net_of_the_others_and_not_on_the_first_day() -> None:
    assert trust(Answers(), DAYS) == trust(Answers(99), DAYS - 1) == NEWCOMER
    assert trust(Answers(PROVEN), DAYS) == trust(Answers(99), DAYS) == 1.0
    steps = [trust(Answers(right), DAYS) for right in range(PROVEN + 1)]
    assert steps == sorted(set(steps))
    assert trust(Answers(5, wrong=1, even=1), DAYS) == trust(Answers(2), DAYS)
    assert trust(Answers(1, wrong=9), DAYS) == NEWCOMER


@pytest.mark.parametrize(
    ("physics", "winner"),
    [
        ((1, 0, 1.0, 0.3), "left_better"),
        ((0, 2, 0.5, 1.0), "right_better"),
        ((1, 0, 1.0, 0.8), None),
        ((1, 1, 1.0, 1.0), None),
        ((0, 0, 0.4, 0.1), None),
        ((1, 0, 1.0, None), None),
    ],
)
def test_physics_is_clear_where_one_side_reached_the_goal_and_the_other_stayed_far_from_it(
    physics: Any, winner: str | None
) -> None:
    assert clear_winner(*physics) == winner


def test_an_answer_is_right_wrong_or_even() -> None:
    found = [answer(vote, "right_better") for vote in ("right_better", "left_better", "tie", "both_bad")]
    assert found == [Answers(right=1), Answers(wrong=1), Answers(even=1), Answers(even=1)]


def test_room_is_shared_as_water_finds_its_level() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        wanted, group = rng.integers(1, 16, 40).astype(float), rng.integers(0, 6, 40)
        first = rng.random(40) < 0.3
        found = shares(wanted, group, first, 15.0)
        assert (found <= wanted + 1e-9).all()
        for one in range(6):
            own = group == one
            assert found[own].sum() == pytest.approx(min(15.0, wanted[own].sum()))
            if found[own & first].sum() < wanted[own & first].sum() - 1e-9:
                assert found[own & ~first].sum() == pytest.approx(0.0)
            for some in (own & first, own & ~first):
                short = some & (found < wanted - 1e-9)
                assert not short.any() or found[some].max() == pytest.approx(found[short].min())


def test_votes_that_hang_together_in_a_network_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    votes: list[tuple[str | int, ...]] = []
    for network in range(20):
        for voter in range(5):
            for day in (EARLIER, DAY):
                taken = rng.multinomial(3, [0.9, 0.1, 0, 0] if network % 2 else [0.1, 0.9, 0, 0])
                name = (f"v{network}-{voter}", day, f"n{network}")
                votes.append(("widowx", "table", "", "a", "b", *name, *taken.tolist()))
    together = trusting(VoteTable.of(votes)).counts()
    apart = VoteTable.of([(*row[:7], "", *row[8:]) for row in votes]).counts()
    assert fit(together, cap=0).half_width[0] > 1.5 * fit(apart, cap=0).half_width[0]
    assert fit(together, cap=0).rating == pytest.approx(fit(apart, cap=0).rating)
