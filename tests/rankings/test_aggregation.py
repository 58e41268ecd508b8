"""From pending votes to boards: counted once, faulty ones alone, everything or nothing."""

from __future__ import annotations

import pytest

from arena.models import ProcessingStatus, Vote
from policies.models import Policy
from rankings import tasks
from rankings.fit.bradley_terry import fit
from rankings.fit.elo import sequential_elo
from rankings.models import ModelStatsByRobot, ModelStatsTotal, WorkerStatus
from rankings.publication import aggregation, checking, tables
from rankings.tally.counts import Ballot, tally
from rankings.votes import judging
from tests.factories import BattleFactory, PolicyFactory, SessionFactory, VoteFactory
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db

SOME = ballots(
    ("a", "b", "left_better", 6, "v1"),
    ("b", "a", "tie", 2, "v2"),
    ("c", "a", "both_bad", 3),
    ("b", "c", "tie", 4, "v1"),
)


def boards() -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    return (
        list(ModelStatsTotal.objects.order_by("model_id").values()),
        list(ModelStatsByRobot.objects.order_by("robot_id", "model_id").values()),
    )


def test_pending_votes_fill_both_tables_and_are_marked_processed() -> None:
    cast(SOME)
    assert aggregation.aggregate() == aggregation.RunReport(votes_processed=15, votes_failed=0, rows_changed=6)
    assert set(Vote.objects.values_list("processing_status", flat=True)) == {"processed"}
    assert not Vote.objects.filter(processed_at=None).exists()
    total = ModelStatsTotal.objects.get(model_id="a")
    robot = ModelStatsByRobot.objects.get(model_id="a", robot_id="widowx")
    for row in (total, robot):
        assert (row.vote_count, row.win_count, row.loss_count, row.tie_count, row.both_bad_count) == (11, 6, 0, 2, 3)
        assert row.win_rate == pytest.approx(6 / 11)


def test_the_rows_hold_bradley_terry_and_beside_it_the_classic_elo() -> None:
    cast(SOME)
    aggregation.aggregate()
    found = fit(tally(SOME))
    rows = ModelStatsTotal.objects.order_by("model_id")
    assert [row.elo_score for row in rows] == [round(rating) for rating in found.rating]
    assert [row.elo_ci for row in rows] == [round(width, 1) for width in found.half_width]
    assert {row.model_id: row.elo_sequential for row in rows} == sequential_elo(SOME)
    assert sum(row.elo_score * weight for row, weight in zip(rows, found.weight, strict=True)) == pytest.approx(
        1500, abs=1
    )


def test_the_classic_elo_follows_the_time_of_the_vote_and_not_of_its_arrival() -> None:
    late, early = ballots(("a", "b", "left_better", 3)), ballots(("b", "c", "left_better", 3))
    cast(late, start=100)
    aggregation.aggregate()
    cast(early, start=0)
    aggregation.aggregate()
    stored = dict(ModelStatsTotal.objects.values_list("model_id", "elo_sequential"))
    assert stored == sequential_elo([*early, *late]) != sequential_elo([*late, *early])


def test_each_robot_has_a_board_of_its_own_and_the_global_one_has_all() -> None:
    cast(ballots(("a", "b", "left_better", 3)), SessionFactory(setting="widowx"))
    cast(ballots(("b", "a", "left_better", 5)), SessionFactory(setting="franka"))
    aggregation.aggregate()
    counts = ModelStatsByRobot.objects.filter(model_id="a").values_list("robot_id", "win_count", "loss_count")
    assert sorted(counts) == [("franka", 0, 5), ("widowx", 3, 0)]
    assert ModelStatsTotal.objects.get(model_id="a").vote_count == 8


def test_the_total_row_copies_organization_and_licence_from_the_registry() -> None:
    PolicyFactory(id="a", organization="Berkeley", license="MIT")
    cast(ballots(("a", "b", "tie", 1)))
    aggregation.aggregate()
    row = ModelStatsTotal.objects.get(model_id="a")
    assert (row.organization, row.license) == ("Berkeley", "MIT")


def test_a_second_run_changes_nothing() -> None:
    cast(SOME)
    aggregation.aggregate()
    before = boards()
    assert aggregation.aggregate() == aggregation.RunReport(votes_processed=0, votes_failed=0, rows_changed=0)
    assert boards() == before


def test_votes_taken_in_two_runs_give_the_boards_of_one() -> None:
    cast(SOME[:7])
    aggregation.aggregate()
    cast(SOME[7:], start=7)
    aggregation.aggregate()
    assert checking.differences() == []
    assert {row.model_id: row.elo_score for row in ModelStatsTotal.objects.all()} == {
        name: round(rating) for name, rating in zip(*_named_ratings(SOME), strict=True)
    }


def _named_ratings(votes: list[Ballot]) -> tuple[tuple[str, ...], list[float]]:
    found = fit(tally(votes))
    return found.names, found.rating.tolist()


def test_a_vote_with_an_unknown_value_fails_alone_and_says_what_is_known() -> None:
    _, bad = cast(ballots(("a", "b", "left_better", 2)))
    Vote.objects.filter(pk=bad.pk).update(vote="nan")
    report = aggregation.aggregate()
    assert (report.votes_processed, report.votes_failed) == (1, 1)
    bad.refresh_from_db()
    assert bad.processing_status == ProcessingStatus.FAILED
    assert bad.processed_at is not None
    assert bad.error_message == "unknown vote 'nan'; known: left_better, right_better, tie, both_bad"
    assert ModelStatsTotal.objects.get(model_id="a").vote_count == 1


def test_a_vote_whose_copies_contradict_its_battle_fails_alone() -> None:
    cast(ballots(("a", "b", "left_better", 3)))
    PolicyFactory(id="c")
    VoteFactory(battle=BattleFactory(left_model_id="a", right_model_id="b"), left_model_id="c")
    VoteFactory(setting="elsewhere")
    VoteFactory(scene="elsewhere")
    VoteFactory(session=SessionFactory())
    report = aggregation.aggregate()
    assert (report.votes_processed, report.votes_failed) == (3, 4)
    messages = set(Vote.objects.filter(processing_status="failed").values_list("error_message", flat=True))
    assert "the vote says left_model_id 'c', its battle 'a'" in messages
    assert "the vote says setting 'elsewhere', its battle 'widowx'" in messages
    assert not ModelStatsTotal.objects.filter(model_id="c").exists()


def test_a_vote_of_a_policy_against_itself_fails() -> None:
    policy = PolicyFactory(id="a")
    vote = VoteFactory(battle=BattleFactory(left_model=policy), right_model=policy)
    aggregation.aggregate()
    vote.refresh_from_db()
    assert vote.error_message == "policy 'a' against itself"


def test_a_vote_whose_policy_or_battle_is_gone_is_faulty() -> None:
    """Foreign keys forbid it; a database restored by hand may still bring it."""
    row = {"vote": "tie"} | {name: "a" for each in judging.COPIES.items() for name in each}
    row |= {"right_model_id": "gone", "battle__right_model_id": "gone"}
    assert judging.fault(row, {"a": "a", "gone": "a"}) is None
    assert judging.fault(row, {"a": "a"}) == "policy 'gone' is not in the registry"
    assert judging.fault(None, {"a": "a"}) == "its battle does not exist"


def test_a_rebuild_takes_in_a_failed_vote_that_was_put_right() -> None:
    (vote,) = cast(ballots(("a", "b", "left_better", 1)))
    Vote.objects.update(vote="nan")
    aggregation.aggregate()
    Vote.objects.update(vote="left_better")
    assert aggregation.aggregate().votes_processed == 0
    assert aggregation.rebuild().votes_processed == 1
    vote.refresh_from_db()
    assert (vote.processing_status, vote.error_message) == ("processed", None)


def test_a_rebuild_drops_the_row_of_a_policy_whose_votes_all_failed() -> None:
    cast(ballots(("a", "b", "left_better", 1)))
    aggregation.aggregate()
    Vote.objects.update(vote="nan")
    aggregation.rebuild()
    assert boards() == ([], [])


def test_a_rebuild_mends_whatever_was_changed_by_hand() -> None:
    cast(SOME)
    aggregation.aggregate()
    before = [row["elo_score"] for row in boards()[0]]
    ModelStatsTotal.objects.update(elo_score=9999, vote_count=1)
    ModelStatsByRobot.objects.all().delete()
    aggregation.rebuild()
    assert [row["elo_score"] for row in boards()[0]] == before
    assert len(boards()[1]) == 3
    assert checking.differences() == []


def test_the_worker_writes_down_every_run() -> None:
    cast(ballots(("a", "b", "tie", 4)))
    aggregation.aggregate()
    first = WorkerStatus.objects.get(worker_name="rankings.aggregate")
    assert (first.status, first.votes_processed, first.error_message) == ("ok", 4, None)
    aggregation.aggregate()
    second = WorkerStatus.objects.get(worker_name="rankings.aggregate")
    assert second.votes_processed == 0
    assert second.last_run_at is not None
    assert first.last_run_at is not None
    assert second.last_run_at > first.last_run_at


def test_the_worker_says_how_many_votes_failed() -> None:
    cast(ballots(("a", "b", "tie", 3)))
    Vote.objects.filter(pk=Vote.objects.order_by("pk")[0].pk).update(vote="nan")
    aggregation.aggregate()
    assert WorkerStatus.objects.get().error_message == "1 of 3 votes failed; each says why"


@pytest.mark.django_db(transaction=True)
def test_a_run_that_breaks_half_way_changes_nothing_but_the_workers_status(monkeypatch: pytest.MonkeyPatch) -> None:
    cast(SOME)
    aggregation.aggregate()
    before = boards()
    cast(ballots(("a", "b", "right_better", 9)), start=50)

    def breaks(*_: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(tables, "_upsert", breaks)
    with pytest.raises(RuntimeError):
        aggregation.aggregate()
    assert boards() == before
    assert Vote.objects.filter(processing_status="pending").count() == 9
    status = WorkerStatus.objects.get()
    assert (status.status, status.votes_processed) == ("failed", 0)
    assert status.error_message == "RuntimeError: the disk is full"
    monkeypatch.undo()
    assert aggregation.aggregate().votes_processed == 9
    assert checking.differences() == []


def test_a_policy_may_be_retired_and_keeps_its_votes() -> None:
    cast(SOME)
    Policy.objects.filter(pk="a").update(status="retired")
    aggregation.aggregate()
    assert ModelStatsTotal.objects.get(model_id="a").vote_count == 11


def test_the_task_that_beat_sends_aggregates() -> None:
    cast(ballots(("a", "b", "tie", 1)))
    assert tasks.aggregate.name == "rankings.aggregate"
    tasks.aggregate()
    assert ModelStatsTotal.objects.count() == 2


def test_no_votes_at_all_are_no_trouble() -> None:
    assert aggregation.aggregate() == aggregation.RunReport(votes_processed=0, votes_failed=0, rows_changed=0)
    assert boards() == ([], [])
