"""Side, order, length and success beside the ratings: planted ones are found, and what cannot be told is not told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rankings.analysis import terms
from rankings.analysis.term_boards import boards, votes_of
from rankings.analysis.terms import BEYOND, EQUAL, LENGTH, ORDER, SIDE, SUCCESS, TermVotes
from rankings.fit.bradley_terry import fit
from rankings.study.terms import Biases, recovered, simulate
from rankings.study.voters import truth
from rankings.tally.counts import Columns, Counts
from rankings.tally.facts import Fact, VoteFacts
from rankings.tally.table import Board, VoteTable
from tests.rankings.ballots import rows_of


def arena(way: Biases, seed: int = 1) -> TermVotes:
    rng = np.random.default_rng(seed)
    return simulate(way, truth(way.contestants, rng), rng)


@pytest.mark.parametrize(
    ("name", "way"),
    [
        (SIDE, Biases(side=60)),
        (ORDER, Biases(order=60)),
        (LENGTH, Biases(length=-60)),
        (SUCCESS, Biases(success=120)),
    ],
)
def test_a_planted_effect_is_found_and_no_other(name: str, way: Biases) -> None:
    arenas = [recovered(way, seed) for seed in range(20)]
    for term in BEYOND:
        errors = np.array([each.terms[term][0] for each in arenas])  # type: ignore[index]
        assert abs(errors.mean()) < 4.0 * errors.std() / np.sqrt(len(errors)) + 1.0, (name, term)


def test_intervals_hold_terms_and_ratings_95_times_in_100() -> None:
    arenas = [recovered(Biases(side=60, length=-60), seed) for seed in range(60)]
    held = [each.terms[name][1] for each in arenas for name in (SIDE, LENGTH)]  # type: ignore[index]
    assert 0.90 <= np.mean(held) <= 0.99
    assert 0.93 <= np.mean([each.holds for each in arenas]) <= 0.97


def test_ratings_do_not_take_slowness_for_weakness() -> None:
    arenas = [recovered(Biases(length=-60, slow=0.5), seed) for seed in range(20)]
    assert abs(np.mean([each.tilt for each in arenas])) < 6
    assert np.mean([each.plain_tilt for each in arenas]) < -20


def test_without_terms_the_ratings_are_the_boards() -> None:
    votes = arena(Biases())
    columns = Columns(votes.left, votes.right, votes.voter, votes.setting, votes.setting, votes.outcome)
    board = fit(Counts.of(votes.names, columns))
    found = terms.board(votes, ())
    rating = np.array([found["models"][name]["plain"] for name in votes.names])
    assert rating == pytest.approx(board.rating, abs=0.0051)


def test_a_term_that_never_differs_is_unknown() -> None:
    found = terms.board(arena(Biases(side=60, alike=True)), EQUAL)
    assert found["terms"][ORDER] is found["terms"][LENGTH] is None
    assert found["terms"][SIDE] is not None


def test_of_two_terms_that_always_go_together_the_second_is_unknown() -> None:
    votes = arena(Biases(order=60))
    first = votes.steps_left < votes.steps_right
    both = replace(votes, steps_left=np.where(first, 50, 100), steps_right=np.where(first, 100, 50))
    found = terms.board(both, EQUAL)
    assert found["terms"][ORDER] is not None
    assert found["terms"][LENGTH] is None


def test_a_side_that_goes_with_the_policies_is_unknown() -> None:
    votes = arena(Biases())
    ordered = votes.where(votes.left == 0)
    alone = replace(ordered, right=np.ones_like(ordered.right))
    assert terms.board(alone, (SIDE,))["terms"][SIDE] is None


def test_no_votes_have_no_board_and_one_vote_is_no_error() -> None:
    votes = arena(Biases())
    nobody = np.zeros(len(votes.left), dtype=bool)
    assert terms.board(votes.where(nobody), EQUAL) == {"votes": 0, "terms": dict.fromkeys(EQUAL), "models": {}}
    nobody[0] = True
    found = terms.board(votes.where(nobody), BEYOND)
    assert found["terms"] == dict.fromkeys(BEYOND)
    assert len(found["models"]) == 2


def test_ratings_over_robots_are_brought_together_as_on_the_boards() -> None:
    votes = arena(Biases(votes=6000))
    robot = (np.arange(len(votes.left)) % 3 == 0).astype(np.int64)
    columns = Columns(votes.left, votes.right, votes.voter, robot, 0 * robot, votes.outcome)
    board = fit(Counts.of(votes.names, columns))
    rating = [row["plain"] for row in terms.board(replace(votes, setting=robot), ())["models"].values()]
    assert rating == pytest.approx(board.rating, abs=0.0051)


# From the facts of votes.


def facts(number: int = 400) -> tuple[VoteTable, VoteFacts]:
    """One voter with 40 votes on one day, others with one each; two robots."""
    rng = np.random.default_rng(5)
    rows = []
    for place in range(number):
        left, right = rng.choice(["a", "b", "c"], 2, replace=False)
        voter = "busy" if place < 40 else "" if place < 60 else f"v{place}"
        rows.append(
            Fact(
                setting=("r", "s")[place % 2],
                scene="table",
                task="pick",
                left=str(left),
                right=str(right),
                voter=voter,
                day=f"2026-01-0{1 + place % 3 if voter != 'busy' else 1}",
                vote=int(rng.integers(0, 3)),
                success=int(rng.integers(-1, 3)),
                steps_left=int(rng.integers(10, 100)),
                steps_right=int(rng.integers(10, 100)),
            )
        )
    outcome = np.eye(4, dtype=np.int64)
    table = VoteTable.of(
        (row.setting, row.scene, row.task, row.left, row.right, row.voter, row.day, "", *outcome[row.vote].tolist())
        for row in rows
    )
    return table, VoteFacts.of(rows)


def test_each_vote_weighs_what_it_weighs_on_the_board() -> None:
    table, known = facts()
    votes = votes_of(table, known, Board(), cap=15)
    counts = table.counts()
    assert len(votes.left) == 400
    assert votes.weight.sum() == pytest.approx(float((counts.weights(15) * counts.votes).sum()))
    assert votes.weight[:40] == pytest.approx(np.full(40, 15 / 40))
    assert (votes.weight[40:] == 1).all()
    assert set(votes.voter[40:60]) == {-1}


def test_a_vote_whose_count_was_taken_back_is_left_out() -> None:
    table, known = facts()
    rest = table.counts(without_voters=["busy"])
    kept = known.where(np.arange(400) != 399)
    assert len(votes_of(table, kept, Board(), cap=15).left) == 399
    assert rest.total == 360
    other = VoteTable.of(
        (row.setting, row.scene, row.task, row.left, row.right, row.voter, row.day, "", 1, 0, 0, 0)
        for row in rows_of(known)
        if row.voter != "busy"
    )
    assert len(votes_of(other, known, Board(), cap=15).left) == 360


def test_each_robot_has_a_board_and_success_asks_only_votes_with_a_verdict() -> None:
    table, known = facts()
    found = boards(table, known, cap=15)
    assert set(found) == {"global", "robot=r", "robot=s"}
    assert [found[name]["equal"]["votes"] for name in ("global", "robot=r", "robot=s")] == [400, 200, 200]
    assert found["global"]["beyond"]["votes"] == int(known.judged.sum()) < 400
    assert set(found["robot=r"]["beyond"]["terms"]) == set(BEYOND)
