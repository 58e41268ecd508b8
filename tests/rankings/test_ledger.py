"""Counts move with the votes: cast, excluded, restored, each in one transaction."""

from __future__ import annotations

import pytest
from django.db import transaction

from arena.actions import cast_vote
from arena.models import Battle, Vote, VoteChoice
from rankings.models import CountedVote, ExcludedVoter, VoteCount
from rankings.votes import ledger
from tests.factories import SessionFactory, TurnFactory
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db

SOME = ballots(("a", "b", "left_better", 3, "v1"), ("b", "a", "tie", 2, "v1"), ("a", "b", "both_bad", 1, "v2"))


def sums() -> dict[tuple[str, str, str], tuple[int, int, int, int]]:
    """(left, right, voter) -> counts of the four outcomes; rows of zeros are as good as none."""
    rows = VoteCount.objects.all()
    return {
        (row.left_model_id, row.right_model_id, row.voter): counts
        for row in rows
        if any(counts := (row.left_better, row.right_better, row.tie, row.both_bad))
    }


ALL = {("a", "b", "v1"): (3, 0, 0, 0), ("b", "a", "v1"): (0, 0, 2, 0), ("a", "b", "v2"): (0, 0, 0, 1)}


def test_a_vote_is_in_the_counts_as_soon_as_it_is_cast() -> None:
    battle = TurnFactory(completed=True).battle
    vote = cast_vote(battle, VoteChoice.RIGHT_BETTER)
    row = VoteCount.objects.get()
    assert (row.left_model_id, row.right_model_id) == (battle.left_model_id, battle.right_model_id)
    assert (row.robot_id, row.scene_id, row.voter, row.day) == (
        "widowx",
        "table",
        battle.session.user_id,
        vote.voted_at.date(),
    )
    assert (row.left_better, row.right_better, row.tie, row.both_bad) == (0, 1, 0, 0)


def test_a_vote_that_is_taken_back_leaves_no_count() -> None:
    battle = TurnFactory(completed=True).battle
    with transaction.atomic():
        cast_vote(battle, VoteChoice.TIE)
        transaction.set_rollback(True)
    assert not Vote.objects.exists()
    assert not VoteCount.objects.exists()


@pytest.mark.parametrize(
    ("instructions", "task"),
    [
        (["stack the red cube on the yellow cube", "stack the blue can on the red block"], "stack"),
        (["stack the red cube on the yellow cube", "pick up the green sphere"], ""),
        (["wave at me"], ""),
    ],
)
def test_the_task_of_a_vote_is_what_all_turns_were_about(instructions: list[str], task: str) -> None:
    battle = TurnFactory(completed=True, instruction=instructions[0]).battle
    for more in instructions[1:]:
        TurnFactory(battle=battle, completed=True, instruction=more)
    cast_vote(Battle.objects.get(pk=battle.pk), VoteChoice.TIE)
    assert task in VoteCount.objects.get().task_id
    assert bool(VoteCount.objects.get().task_id) == bool(task)


def test_votes_are_taken_once_however_often_they_are_handed_in() -> None:
    votes = cast(SOME)
    assert ledger.count_votes(votes) == 6
    assert ledger.count_votes(votes) == 0
    assert sums() == ALL


def test_votes_on_gold_and_repeated_battles_are_not_counted() -> None:
    votes = cast(SOME)
    for vote, purpose in zip(votes, ["gold", "repeat"], strict=False):
        vote.purpose = purpose
    ledger.count_votes(votes)
    assert sums()[("a", "b", "v1")] == (1, 0, 0, 0)


def test_an_excluded_vote_leaves_the_counts_and_comes_back() -> None:
    votes = cast(SOME)
    ledger.count_votes(votes)
    assert ledger.exclude_votes([votes[0].pk, votes[3].pk]) == 2
    assert sums()[("a", "b", "v1")] == (2, 0, 0, 0)
    assert sums()[("b", "a", "v1")] == (0, 0, 1, 0)
    assert ledger.exclude_votes([votes[0].pk]) == 0
    assert ledger.restore_votes([vote.pk for vote in votes]) == 2
    assert sums() == ALL


def test_an_excluded_voter_takes_all_votes_along_future_ones_too() -> None:
    ledger.count_votes(cast(SOME))
    assert ledger.exclude_voter("v1") == 5
    assert sums() == {("a", "b", "v2"): (0, 0, 0, 1)}
    ledger.count_votes(cast(ballots(("a", "b", "tie", 1, "v1")), start=50))
    assert sums() == {("a", "b", "v2"): (0, 0, 0, 1)}
    assert ledger.restore_voter("v1") == 6
    assert sums() == {**ALL, ("a", "b", "v1"): (3, 0, 1, 0)}
    assert not ExcludedVoter.objects.exists()


def test_a_vote_excluded_by_itself_stays_out_when_its_voter_comes_back_and_the_other_way_round() -> None:
    votes = cast(SOME)
    ledger.count_votes(votes)
    ledger.exclude_votes([votes[0].pk])
    ledger.exclude_voter("v1")
    ledger.restore_voter("v1")
    assert sums()[("a", "b", "v1")] == (2, 0, 0, 0)
    ledger.exclude_voter("v1")
    ledger.restore_votes([votes[0].pk])
    assert ("a", "b", "v1") not in sums()
    ledger.restore_voter("v1")
    assert sums() == ALL


def test_a_forgotten_vote_leaves_counts_and_ledger() -> None:
    votes = cast(SOME)
    ledger.count_votes(votes)
    assert ledger.uncount_votes([votes[5].pk]) == 1
    assert ("a", "b", "v2") not in sums()
    assert CountedVote.objects.count() == 5


def test_votes_of_one_voter_on_two_days_scenes_and_robots_are_rows_of_their_own() -> None:
    session = SessionFactory(setting="franka")
    ledger.count_votes([*cast(SOME[:1]), *cast(SOME[:1], start=86_400), *cast(SOME[:1], session)])
    assert sorted(VoteCount.objects.values_list("robot_id", "left_better")) == [
        ("franka", 1),
        ("widowx", 1),
        ("widowx", 1),
    ]
