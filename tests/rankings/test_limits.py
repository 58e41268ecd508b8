"""How far a network and a cohort may move a rating: those who are weighed down, and those who are left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankings.fit.bradley_terry import fit
from rankings.fit.ratings import CAP
from rankings.study.ballots import Ballots, Honest, Stuffing, honest, stuffed, table_of, together
from rankings.study.crowds import held
from rankings.study.voters import Aim, truth
from rankings.tally.table import Board, VoteTable
from rankings.trust import limits
from rankings.trust.limits import COHORT, NETWORK, limited

OLDER = Honest(days=60)
PATIENT = Stuffing(250, 17, 17, 5, knowing=True)
TARGET = 3


def votes(crowd: Honest, way: Stuffing | None = None, seed: int = 0) -> Ballots:
    rng = np.random.default_rng(seed)
    theta = truth(crowd.contestants, rng)
    base = honest(theta, crowd, rng)
    return together(base, stuffed(theta, way._replace(aim=Aim(TARGET)), rng, until=crowd.days)) if way else base


def trusts(table: VoteTable) -> np.ndarray:
    """(rows,)"""
    assert table.trust is not None
    return table.trust


def both(ballots: Ballots) -> tuple[VoteTable, VoteTable]:
    """Without limits, and with them."""
    return table_of(10, ballots, limits=False), table_of(10, ballots)


def test_a_crowd_is_weighed_down_more_than_those_before_it() -> None:
    ballots = votes(OLDER, PATIENT)
    before, after = both(ballots)
    factor = trusts(after) / trusts(before)
    stuffers = ballots.voter >= ballots.voter.max() - 16
    assert factor[stuffers].max() < 0.3
    assert np.average(factor[~stuffers], weights=trusts(before)[~stuffers]) > 5 * factor[stuffers].mean()


def test_what_newcomers_together_move_is_within_their_limit() -> None:
    ballots = votes(OLDER, PATIENT)
    table = table_of(10, ballots)
    since = ballots.voter[ballots.day >= 55]
    new = [voter for voter in since if ballots.day[ballots.voter == voter].min() >= 55]
    names = [f"v{voter:06}" for voter in set(new)]
    moved = fit(table.counts(), cap=CAP).rating - fit(table.counts(without_voters=names), cap=CAP).rating
    assert np.abs(moved).max() < 1.5 * COHORT


def test_one_network_moves_a_rating_as_far_as_it_may() -> None:
    ballots = votes(OLDER, Stuffing(1000, 82, 1, 20, knowing=True))
    before, after = both(ballots)
    names = [f"v{voter:06}" for voter in range(ballots.voter.max() - 81, ballots.voter.max() + 1)]
    moved = [
        fit(each.counts(), cap=CAP).rating - fit(each.counts(without_voters=names), cap=CAP).rating
        for each in (before, after)
    ]
    assert np.abs(moved[0]).max() > 40
    assert np.abs(moved[1]).max() < 1.5 * NETWORK


def test_the_board_of_each_robot_has_the_limits_too() -> None:
    crowd = Honest(8000, 1000, days=60)
    ballots = votes(crowd, PATIENT)
    table = table_of(10, ballots, limits=False)
    robot = np.arange(len(ballots)) % 2
    robot[8000:] = 0  # where the crowd is; some networks have no vote on the other
    robot[ballots.network == ballots.network.max()] = 0
    values, codes = {**table.values, "setting": ("one", "other")}, {**table.codes, "setting": robot}
    before = replace(table, values=values, codes=codes)
    names = [f"v{voter:06}" for voter in range(ballots.voter.max() - 16, ballots.voter.max() + 1)]
    board = Board(setting="one")
    moved = [
        fit(each.counts(board), cap=CAP).rating - fit(each.counts(board, without_voters=names), cap=CAP).rating
        for each in (before, limited(before, CAP))
    ]
    assert np.abs(moved[0]).max() > 40
    assert np.abs(moved[1]).max() < 2 * COHORT


def test_the_order_of_the_votes_leaves_no_trace() -> None:
    ballots = votes(OLDER, PATIENT)
    order = np.random.default_rng(1).permutation(len(ballots))
    one, other = (fit(table_of(10, each).counts(), cap=CAP) for each in (ballots, ballots.of(order)))
    np.testing.assert_array_equal(one.rating, other.rating)


def test_where_everybody_is_new_nobody_is_weighed_down() -> None:
    before, after = both(votes(Honest(days=1), Stuffing(250, 17, 17)))
    np.testing.assert_array_equal(trusts(before), trusts(after))


def test_beside_a_handful_of_others_nobody_is_weighed_down() -> None:
    before, after = both(votes(Honest(votes=300, voters=15, days=60)))
    np.testing.assert_array_equal(trusts(before), trusts(after))


def test_votes_without_a_network_have_no_limit() -> None:
    ballots = votes(OLDER, PATIENT)
    ballots.network[:] = -1
    table = table_of(10, ballots, limits=False)
    assert limited(table, CAP) is table


@pytest.mark.parametrize("crowd", [Honest(), OLDER, OLDER._replace(joined=50), Honest(20_000, 2000, days=60)])
def test_honest_intervals_are_hardly_wider_and_hold_the_truth(crowd: Honest) -> None:
    repeats = 3 if crowd.votes > 4000 else 10
    (share, width), (before, narrower) = (held(repeats, crowd, limits=limits) for limits in (True, False))
    assert share > before - 0.03
    assert width < 1.1 * narrower


def test_the_first_votes_on_a_new_policy_move_it() -> None:
    ballots = votes(OLDER._replace(joined=58))
    before, after = (fit(each.counts(), cap=CAP) for each in both(ballots))
    assert abs(before.rating[0] - after.rating[0]) < before.half_width[0] / 2
    assert after.half_width[0] < 1.5 * before.half_width[0]


def test_days_that_are_unknown_leave_the_limit_of_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "OTHERS", 1.0)
    rows = [("", "", "", "a", "b", f"v{n}", "", f"n{n}", 1, 1, 0, 0) for n in range(40)]
    table = VoteTable.of([*rows, ("", "", "", "a", "b", "much", "", "net", 500, 0, 0, 0)]).trusting({})
    found = limited(table, 0)
    moved = np.abs(fit(found.counts()).rating - fit(found.counts(without_voters=["much"])).rating)
    whole = np.abs(fit(table.counts()).rating - fit(table.counts(without_voters=["much"])).rating)
    assert moved.max() < whole.max()
