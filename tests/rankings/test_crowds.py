"""A crowd of one, in simulation: what fresh cookies move, who is flagged, and that honest tastes are left in peace.

docs/ranking-study.md has the figures of more arenas: `manage.py ranking_study --only crowds`.
"""

from __future__ import annotations

import numpy as np
import pytest

from rankings.fit.bradley_terry import fit
from rankings.study.ballots import Honest, Stuffing, honest, stuffed, table_of, together
from rankings.study.crowds import attack, ever_suspected, false_flags, flags
from rankings.study.voters import Aim, truth
from rankings.trust.campaigns import campaigns

SMALL = Honest(votes=4000, voters=300, contestants=6)


@pytest.mark.parametrize("cookies", [82, 1000])
def test_1000_votes_from_fresh_cookies_of_one_network_move_nobody_by_more_than_10_points(cookies: int) -> None:
    found = [attack(Stuffing(1000, cookies), seed=seed) for seed in range(3)]
    assert max(each.moved for each in found) <= 10


@pytest.mark.parametrize("knowing", [False, True])
def test_250_votes_over_17_networks_move_nobody_by_more_than_20_points_and_are_mostly_flagged(knowing: bool) -> None:
    found = [attack(Stuffing(250, 34, 17, knowing=knowing), seed=seed) for seed in range(5)]
    assert max(each.moved for each in found) <= 20
    assert np.mean([each.flagged for each in found]) >= 0.8


OLDER = Honest(days=60)


@pytest.mark.parametrize("days", [5, 14])
def test_the_patient_who_are_trusted_move_nobody_by_more_than_20_points(days: int) -> None:
    way = Stuffing(250, 17, 17, days, knowing=True)
    assert max(attack(way, seed=seed, crowd=OLDER).moved for seed in range(4)) <= 20


@pytest.mark.slow
def test_four_weeks_later_the_patient_still_move_a_rating_by_less_than_20_points_on_average() -> None:
    found = [attack(Stuffing(250, 17, 17, 5, knowing=True, ago=28), seed=seed, crowd=OLDER) for seed in range(4)]
    assert np.mean([each.moved for each in found]) <= 20


def test_the_patient_in_a_young_arena_move_a_rating_by_less_than_20_points_on_average_and_are_flagged() -> None:
    found = [attack(Stuffing(250, 17, 17, 5, knowing=True), seed=seed) for seed in range(5)]
    assert np.mean([each.moved for each in found]) <= 20
    assert np.mean([each.flagged for each in found]) >= 0.8


@pytest.mark.slow
def test_the_patient_are_flagged_though_they_came_two_weeks_ago() -> None:
    found = [attack(Stuffing(250, 17, 17, 14, knowing=True), seed=seed, crowd=OLDER) for seed in range(4)]
    assert all(each.flagged for each in found)


def test_1000_votes_of_one_network_over_five_days_move_nobody_by_more_than_10_points() -> None:
    found = [attack(Stuffing(1000, 82, 1, 5, knowing=True), seed=seed) for seed in range(3)]
    assert max(each.moved for each in found) <= 10
    assert all(each.flagged for each in found)


def test_those_who_are_named_are_the_stuffers_and_hardly_anybody_else() -> None:
    found = attack(Stuffing(250, 17, 17), seed=3)
    assert found.caught >= 12
    assert found.others <= 2


def test_honest_newcomers_with_tastes_are_no_campaign() -> None:
    assert sum(false_flags(seed=seed) for seed in range(8)) == 0


def test_a_push_against_a_policy_is_seen_as_one_for_it_is() -> None:
    rng = np.random.default_rng(5)
    theta = truth(6, rng)
    above = int((theta > theta[2]).sum())
    base, more = honest(theta, SMALL, rng), stuffed(theta, Stuffing(250, 17, 17, aim=Aim(above)), rng)
    turned = more.__class__(*(getattr(more, name) for name in more.__dataclass_fields__))
    turned.outcome[:] = 1 - turned.outcome
    found = flags(6, together(base, turned))
    assert [(each.policy, each.favours) for each in found] == [("p002", False)]
    assert found[0].pairs > 4  # they left all other battles
    assert found[0].pace > 0


def test_an_arena_of_newcomers_alone_names_nobody() -> None:
    rng = np.random.default_rng(6)
    theta = truth(6, rng)
    everybody = honest(theta, SMALL, rng)
    everybody.day[:] = 0
    assert flags(6, everybody) == []


def test_nobody_new_is_no_campaign() -> None:
    rng = np.random.default_rng(7)
    counts = table_of(6, honest(truth(6, rng), SMALL, rng)).counts()
    none = np.zeros(0, np.int64)
    assert campaigns(counts, fit(counts, cap=15), none, lambda members: (np.zeros(0), np.zeros(0))) == []


def test_of_honest_voters_with_tastes_hardly_one_in_a_hundred_is_ever_suspected() -> None:
    suspected, voters = ever_suspected(seed=0, crowd=Honest(20_000, 400), looks=1)
    assert suspected / voters <= 0.01
