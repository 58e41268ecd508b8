"""Every night: are the counts what the raw votes give? What is wrong is named in the worker's status."""

from __future__ import annotations

import pytest

from arena.models import Vote
from rankings import tasks
from rankings.models import ClassicElo, ModelStatsTotal, Snapshot, VoteCount, WorkerStatus
from rankings.moderation import acts
from rankings.moderation.acts import By
from rankings.publication import aggregation, checking
from rankings.votes import ledger
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db

SOME = ballots(("a", "b", "left_better", 3, "v1"), ("b", "a", "tie", 2, "v2"))


def test_all_is_well_after_votes_exclusions_and_restorations() -> None:
    votes = cast(SOME)
    aggregation.aggregate()
    ledger.exclude_votes([votes[0].pk])
    ledger.exclude_voter("v2")
    aggregation.aggregate()
    tasks.check()
    assert WorkerStatus.objects.get(worker_name="rankings.check").status == "ok"
    assert ModelStatsTotal.objects.get(model_id="a").vote_count == 2
    ledger.restore_voter("v2")
    aggregation.rebuild()
    assert checking.differences() == []
    assert ModelStatsTotal.objects.get(model_id="a").vote_count == 4


def test_boards_that_wait_for_the_next_hour_to_follow_a_moderator_are_no_alarm() -> None:
    votes = cast(SOME)
    aggregation.aggregate()
    acts.exclude_votes(votes[:1], By(None, "stuffed"))
    assert checking.differences() != []
    assert checking.check() == []
    VoteCount.objects.filter(voter="v2").update(tie=7)
    assert [each.board for each in checking.check()] == ["counts"]


def test_the_nightly_check_publishes_nothing() -> None:
    cast(SOME)
    tasks.check()
    assert not ModelStatsTotal.objects.exists()


def test_a_count_that_was_changed_by_hand_is_named_and_mended_by_a_rebuild() -> None:
    cast(SOME)
    aggregation.aggregate()
    VoteCount.objects.filter(voter="v2").update(tie=7)
    found, copy = checking.check()
    assert (copy.board, copy.model_id) == ("closed days", "2026-01-01")
    assert (found.board, found.field, found.stored, found.rebuilt) == ("counts", "tie", 7, 2)
    assert found.model_id == "b - a by v2 on 2026-01-01"
    status = WorkerStatus.objects.get(worker_name="rankings.check")
    assert status.status == "different"
    assert status.error_message is not None
    assert status.error_message.startswith(
        "2 differences: counts b - a by v2 on 2026-01-01 tie; closed days 2026-01-01"
    )
    aggregation.rebuild()
    assert checking.check() == []


def test_an_excluded_vote_leaves_the_classic_elo_too() -> None:
    votes = cast(SOME)
    aggregation.aggregate()
    before = ClassicElo.objects.get(board="global").ratings
    ledger.exclude_votes([votes[0].pk])
    aggregation.aggregate()
    assert ClassicElo.objects.get(board="global").ratings != before
    assert checking.differences() == []


def test_a_snapshot_is_kept_only_when_something_changed() -> None:
    cast(SOME)
    aggregation.aggregate()
    aggregation.aggregate()
    first = Snapshot.objects.get()
    assert first.boards["global"]["models"]["a"]["votes"] == 5
    assert first.boards["global"]["votes"] == 5
    assert (len(first.input_hash), len(first.code_version)) == (64, 64)
    assert first.settings["cap_per_voter_and_day"] == 15
    ledger.exclude_votes([Vote.objects.order_by("pk")[0].pk])
    aggregation.aggregate()
    assert Snapshot.objects.count() == 2
    assert Snapshot.objects.all()[0].input_hash != first.input_hash
