"""Votes against physics: kappa of known answer, who is preferred though it failed, and when that raises an alarm."""

from __future__ import annotations

import numpy as np
import pytest

from rankings.analysis.agreement import AlarmRule, agreement, by_contestant, by_task, kappa, kappa_of
from rankings.fit.clusters import Clusters
from rankings.study.agreement import Judges, held
from rankings.tally.counts import OUTCOMES
from rankings.tally.facts import EVEN, LEFT, RIGHT, UNKNOWN, Fact, VoteFacts

RULE = AlarmRule(least_votes=30)


def seen(vote: str, physics: int, count: int, left: str = "a", right: str = "b", task: str = "pick") -> list[Fact]:
    """Votes of different people whom nobody knows."""
    place = OUTCOMES.index(vote)
    return [Fact("widowx", "table", task, left, right, "", "2026-01-01", place, physics, 50, 50)] * count


def facts(*kinds: list[Fact]) -> VoteFacts:
    return VoteFacts.of(each for kind in kinds for each in kind)


def kappa_of_table(table: np.ndarray) -> float:
    whole = np.zeros((3, 3))
    whole[: len(table), : len(table)] = table
    return float(kappa(whole.reshape(1, 9))[0])


def strangers(table: np.ndarray) -> Clusters:
    """As many voters as votes."""
    return Clusters(np.eye(9)[table.ravel() > 0], table.ravel()[table.ravel() > 0].astype(float))


def test_kappa_of_the_textbook_table_is_0_4() -> None:
    """Two readers and 50 grant proposals: 35 agreed on, 25 expected by chance (Cohen's example in many textbooks)."""
    assert kappa_of_table(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)


def test_kappa_of_cohens_three_diagnoses_is_0_49() -> None:
    """Cohen 1968, 200 cases: the unweighted kappa is .492."""
    assert kappa_of_table(np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])) == pytest.approx(0.492, abs=5e-4)


def test_the_interval_of_votes_by_strangers_is_that_of_the_textbook() -> None:
    """J. Fleiss, J. Cohen, B. Everitt, Large sample standard errors of kappa, Psychol. Bull. 72 (1969)."""
    table = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    p = table / 200
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    value, chance = kappa_of_table(table), rows @ columns
    agree = np.diag(p) @ (1 - (rows + columns) * (1 - value)) ** 2
    apart = p * (columns[:, None] + rows[None, :]) ** 2
    spread = agree + (1 - value) ** 2 * (apart.sum() - np.trace(apart)) - (value - chance * (1 - value)) ** 2
    found = kappa_of(strangers(table))
    assert found is not None
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.sqrt(spread / 200) / (1 - chance), rel=0.02)


def test_intervals_hold_where_voters_have_strong_tastes() -> None:
    """Of these arenas the release held kappa in 76 % and the share against in 68 %: it took votes for independent."""
    found = held(Judges(), 1000, 30, repeats=300, seed=4)
    assert 0.92 < found.kappa < 0.98
    assert 0.92 < found.against < 0.98


@pytest.mark.parametrize("voters", [1, 2])
def test_one_voter_tells_nothing_of_others_and_two_hardly_anything(voters: int) -> None:
    rows = [each._replace(voter=f"v{n % voters}") for n, each in enumerate(seen("left_better", LEFT, 30))]
    more = [each._replace(voter=f"v{n % voters}") for n, each in enumerate(seen("right_better", LEFT, 10))]
    evens = [each._replace(voter="v0") for each in seen("tie", EVEN, 9)]
    found = agreement(facts(rows, more, evens), RULE)
    assert (found["kappa_low"], found["kappa_high"]) == (-1.0, 1.0)
    assert (found["against"]["low"], found["against"]["high"]) == (0.0, 1.0) if voters == 1 else found["against"]["low"]


@pytest.mark.parametrize(
    ("table", "expected"), [(np.diag([5, 5, 5]), 1.0), (np.array([[0, 5], [5, 0]]), -1.0), (np.full((3, 3), 7), 0.0)]
)
def test_kappa_is_1_for_agreement_minus_1_for_the_contrary_and_0_for_chance(table: np.ndarray, expected: float) -> None:
    assert kappa_of_table(table) == pytest.approx(expected)


def test_perfect_agreement_of_few_votes_is_not_certain() -> None:
    found = kappa_of(strangers(np.diag([5, 5, 5])))
    assert found is not None
    assert found.value == found.high == 1.0
    assert 0.5 < found.low < 0.9


@pytest.mark.parametrize("table", [np.zeros((3, 3), int), np.diag([9, 0, 0])])
def test_kappa_is_undefined_without_votes_and_where_everybody_says_one_thing(table: np.ndarray) -> None:
    assert kappa_of(strangers(table)) is None


def test_the_share_against_the_success_winner_counts_votes_that_name_one_where_physics_does() -> None:
    votes = facts(
        seen("left_better", LEFT, 6),
        seen("right_better", LEFT, 2),
        seen("tie", LEFT, 5),
        seen("both_bad", RIGHT, 1),
        seen("left_better", EVEN, 9),
    )
    found = agreement(votes, RULE)
    assert found["votes"] == 23
    assert (found["against"]["votes"], found["against"]["against"], found["against"]["share"]) == (8, 2, 0.25)
    assert found["table"] == [[6, 0, 9], [2, 0, 0], [5, 1, 0]]


def test_of_a_policy_right_means_its_opponents() -> None:
    votes = facts(seen("left_better", RIGHT, 4, "a", "b"), seen("right_better", RIGHT, 3, "b", "a"))
    found = by_contestant(votes, RULE)
    assert found["a"]["table"] == [[3, 4, 0], [0, 0, 0], [0, 0, 0]]
    assert found["b"]["table"] == [[0, 0, 0], [4, 3, 0], [0, 0, 0]]


def test_tasks_are_told_apart() -> None:
    found = by_task(facts(seen("tie", EVEN, 2, task="stack"), seen("left_better", LEFT, 1, task="pick")), RULE)
    assert {task: each["votes"] for task, each in found.items()} == {"pick": 1, "stack": 2}


def test_the_alarm_sounds_when_votes_go_to_who_failed() -> None:
    against = facts(seen("right_better", LEFT, 30), seen("left_better", RIGHT, 30), seen("left_better", LEFT, 10))
    assert agreement(against, RULE)["parted"]


def test_the_alarm_sounds_when_votes_know_nothing_of_success() -> None:
    chance = [seen(vote, physics, 40) for vote in ("left_better", "right_better", "tie") for physics in range(3)]
    assert agreement(facts(*chance), RULE)["parted"]


@pytest.mark.parametrize(
    "votes",
    [
        [],
        [seen("right_better", LEFT, 12)],  # all contrary, but few
        [seen("left_better", LEFT, 40), seen("right_better", RIGHT, 40), seen("left_better", RIGHT, 8)],
        [seen("tie", EVEN, 500)],  # nothing to part over
    ],
)
def test_the_alarm_is_silent_with_few_votes_and_with_agreement(votes: list[list[Fact]]) -> None:
    assert not agreement(facts(*votes), RULE)["parted"]


def test_votes_without_a_verdict_are_left_out() -> None:
    votes = facts(seen("tie", EVEN, 2), seen("left_better", UNKNOWN, 9, task=""), seen("tie", UNKNOWN, 9))
    assert agreement(votes, RULE)["votes"] == 2
    assert {task: each["votes"] for task, each in by_task(votes, RULE).items()} == {"pick": 2}
    assert {policy: each["votes"] for policy, each in by_contestant(votes, RULE).items()} == {"a": 2, "b": 2}
