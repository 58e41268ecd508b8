"""What a publication computes once, or of fewer rows, is what it would compute of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from arena.models import ProcessingStatus, Vote
from rankings.analysis import by_task
from rankings.analysis.by_task import Prior, fit_tasks
from rankings.analysis.calibration import calibration
from rankings.fit.bradley_terry import SCALE, fit, influence_of_voters, ratings_of
from rankings.fit.graph import diagonal_blocks
from rankings.fit.posterior import Games
from rankings.fit.sandwich import variance_of_differences
from rankings.models import Snapshot
from rankings.publication import aggregation, preparation
from rankings.tally.arrays import Floats, kept, places_in, replaced
from rankings.tally.counts import Columns, Counts
from rankings.tally.table import Board, VoteTable
from rankings.tally.visits import NO_VISITS
from rankings.tally.weights import PROVEN, Answers
from rankings.trust.standing import RowsOfVoters
from tests.rankings.ballots import ballots, cast

TASKS = ("pick", "put", "stack")


def table(seed: int = 0, votes: int = 400) -> VoteTable:
    """Some voters meet the same pair from both sides in a day, some share networks, some are unknown."""
    rng = np.random.default_rng(seed)

    def row() -> tuple[str | int, ...]:
        left, right = rng.choice(list("abcd"), 2, replace=False)
        voter = f"v{rng.integers(12):02}" if rng.random() < 0.9 else ""
        place = ("widowx", "table", TASKS[rng.integers(3)], str(left), str(right), voter)
        day, network = f"2026-01-0{rng.integers(1, 4)}", f"n{rng.integers(9)}" if rng.random() < 0.8 else ""
        return (*place, day, network, *np.eye(4, dtype=int)[rng.integers(4)].tolist())

    return VoteTable.of([row() for _ in range(votes)]).trusting({"v03": Answers(right=PROVEN)})


def anew(counts: Counts) -> Counts:
    """The same, with nothing computed yet."""
    return replaced(counts, names=counts.names)


@pytest.mark.parametrize("cap", [0, 2, 15])
def test_weights_are_those_of_each_side_order_apart(cap: int) -> None:
    counts = table().counts()
    np.testing.assert_array_equal(counts.weights(cap), anew(counts).weights(cap))
    np.testing.assert_array_equal(counts.without_sides().weights(cap), anew(counts).without_sides().weights(cap))


def test_counts_of_all_votes_are_computed_once_and_anew_for_other_weights() -> None:
    found = table()
    other = found.doubting(["v03"])
    assert found.counts() is found.counts(Board(setting="widowx"))
    assert other.counts() is not found.counts()
    assert other.counts().weights(15).sum() < found.counts().weights(15).sum()
    np.testing.assert_array_equal(other.counts().weights(15), anew(other.counts()).weights(15))


def test_a_table_that_doubts_nobody_who_has_proven_something_is_the_same() -> None:
    found = table()
    assert found.doubting(["v01", "v02"]) is found
    assert found.doubting(["v03"]) is not found


def test_ratings_alone_are_those_of_the_fit() -> None:
    counts = table().counts()
    np.testing.assert_array_equal(ratings_of(counts, cap=15), fit(counts, cap=15).rating)


def test_rows_of_voters_are_found_whether_rows_are_sorted_or_not() -> None:
    rng = np.random.default_rng(2)
    for voter in (np.sort(rng.integers(-1, 40, 500)), rng.integers(-1, 40, 500)):
        for some in (np.array([7]), np.array([31, 2, 90]), np.zeros(0, np.int64)):
            found = RowsOfVoters.of(voter).of_voters(some)
            np.testing.assert_array_equal(found, np.flatnonzero(np.isin(voter, some)))


@pytest.mark.parametrize("cap", [0, 2, 15])
def test_rows_that_are_sorted_are_rated_as_those_that_are_sorted_and_summed(cap: int) -> None:
    rng, size = np.random.default_rng(3), 400
    left = rng.integers(0, 4, size)
    columns = np.stack(
        [left, (left + 1) % 4, rng.integers(-1, 5, size), rng.integers(0, 2, size), rng.integers(0, 3, size)]
    )
    outcomes = np.eye(4, dtype=np.int64)[rng.integers(0, 4, size)]
    low, high = np.minimum(*columns[:2]), np.maximum(*columns[:2])
    order = np.lexsort((columns[0] > columns[1], high, low, columns[4], columns[2], columns[3]))
    mixed, found = (
        Counts.of(["a", "b", "c", "d"], Columns(*columns[:, rows], outcomes[rows])) for rows in (slice(None), order)
    )
    assert len(mixed.left) < len(found.left) == size
    np.testing.assert_array_equal(found.per_pair(), mixed.per_pair())
    one, other = fit(found, cap=cap), fit(mixed, cap=cap)
    np.testing.assert_allclose(one.rating, other.rating, rtol=1e-9)
    np.testing.assert_allclose(one.half_width, other.half_width, rtol=1e-9)
    np.testing.assert_allclose(influence_of_voters(found, cap=cap), influence_of_voters(mixed, cap=cap), atol=1e-3)
    assert calibration(found, cap=cap) == calibration(mixed, cap=cap)


def test_votes_whose_sides_are_forgotten_are_not_copied_to_forget_them_again() -> None:
    votes = table().counts().without_sides()
    again = replaced(votes).without_sides()
    assert all(kept(again, name) is kept(votes, name) for name in ("left", "outcomes"))


def test_votes_by_task_are_fitted_as_those_that_are_sorted_and_summed() -> None:
    votes = table().votes_by_task(Board(setting="widowx"))
    columns = votes.left, votes.right, votes.voter, votes.setting, votes.day, votes.outcomes
    summed = Counts.of(votes.names, columns, votes.visits)  # type: ignore[arg-type]
    assert len(summed.left) < len(votes.left)
    one, other = (fit_tasks(each, TASKS, cap=15) for each in (votes, summed))
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9)
    np.testing.assert_allclose(one.deviation, other.deviation, rtol=1e-9)
    for place in range(len(TASKS)):
        own = by_task.records(summed.where(summed.setting == place))
        assert by_task.published(one, votes)["tasks"][TASKS[place]]["records"] == own


def test_tasks_without_a_vote_cost_no_more_than_one_and_are_what_a_fit_of_all_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    votes, tasks = table().votes_by_task(Board(setting="widowx")).without_sides(), 40
    games, prior = Games.of(by_task._apart(votes, tasks), votes.weights(15)), Prior.of_points()
    joint, x = by_task._at(games, tasks, prior)
    covariances = by_task._covariances(joint, x, by_task._apart(votes, tasks), votes.weights(15))
    widest = np.max([variance_of_differences(diagonal_blocks(each, tasks)) for each in covariances], axis=0)
    sizes: list[int] = []
    usual = by_task._at

    def seen(games: Games, *rest: Any) -> tuple[by_task.Joint, Floats]:
        sizes.append(len(games.played))
        return usual(games, *rest)

    monkeypatch.setattr(by_task, "_at", seen)
    found = fit_tasks(votes, [f"task {number}" for number in range(tasks)], cap=15, prior=prior)
    assert sizes == [len(votes.names) * (len(TASKS) + 1)]
    np.testing.assert_allclose(found.mean, SCALE * x.reshape(tasks, -1), atol=1e-6)
    np.testing.assert_allclose(found.deviation, SCALE * np.sqrt(widest), atol=1e-6)


def test_places_of_numbers_that_are_not_there_are_past_the_last() -> None:
    known = np.array([2, 5, 9])
    assert places_in(known, np.array([9, 1, 2, 10, 5, 6])).tolist() == [2, 3, 0, 3, 1, 3]
    assert places_in(known[:0], known).tolist() == [0, 0, 0]
    assert NO_VISITS.places(known, known).tolist() == [0, 0, 0]


@pytest.mark.django_db
def test_where_the_counts_file_cannot_be_written_nothing_is_published(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: VoteTable) -> None:
        raise OSError("no room")

    cast(ballots(("a", "b", "left_better", 6, "v1")))
    monkeypatch.setattr(preparation, "write_counts", refused)
    with pytest.raises(OSError, match="no room"):
        aggregation.aggregate()
    assert not Snapshot.objects.exists()
    assert set(Vote.objects.values_list("processing_status", flat=True)) == {ProcessingStatus.PENDING}
