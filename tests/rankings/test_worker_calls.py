"""`GET /api/worker/status` and `POST /api/worker/aggregate`: who may, and what they tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from arena.models import Vote
from arena.shapes import check
from rankings import tasks
from rankings.api.shapes import Aggregated, NotDue, WorkerState
from rankings.models import ModelStatsTotal, ModerationAct, Snapshot, WorkerStatus
from rankings.publication import aggregation
from tests.people import logged_in, moderator, operator
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    return logged_in(operator())


def test_before_the_first_run_the_worker_says_that_it_never_ran(client: Client) -> None:
    answer = client.get("/api/worker/status").json()
    check(answer, WorkerState)
    assert answer == {
        "worker_name": "rankings.aggregate",
        "status": "never run",
        "last_run_at": None,
        "votes_processed": 0,
        "pending_votes": 0,
        "failed_votes": 0,
        "error_message": None,
    }


def test_after_a_run_it_tells_what_was_done_and_what_waits(client: Client) -> None:
    cast(ballots(("a", "b", "tie", 3)))
    Vote.objects.filter(pk=Vote.objects.order_by("pk")[0].pk).update(vote="nan")
    aggregation.aggregate()
    cast(ballots(("a", "b", "tie", 4)))
    answer = client.get("/api/worker/status").json()
    assert (answer["status"], answer["votes_processed"]) == ("ok", 2)
    assert (answer["pending_votes"], answer["failed_votes"]) == (4, 1)
    assert answer["last_run_at"] is not None


def test_only_operators_read_the_wording_of_an_error(client: Client, staff: Client) -> None:
    WorkerStatus.objects.create(worker_name="rankings.aggregate", status="failed", error_message="secret path")
    assert client.get("/api/worker/status").json()["error_message"] is None
    assert staff.get("/api/worker/status").json()["error_message"] == "secret path"


def test_staff_aggregate_by_hand(staff: Client) -> None:
    cast(ballots(("a", "b", "left_better", 7)))
    answer = staff.post("/api/worker/aggregate")
    assert answer.status_code == 200
    check(answer.json(), Aggregated)
    assert answer.json() == {"status": "ok", "votes_processed": 7, "votes_failed": 0, "rows_changed": 4}
    assert ModelStatsTotal.objects.get(model_id="a").win_count == 7


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    """Boards of seven votes written at 10:05, and seven votes since; the item is the present time."""
    now = [datetime(2026, 5, 1, 10, 5, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: now[0])
    cast(ballots(("a", "b", "left_better", 7)))
    aggregation.aggregate()
    cast(ballots(("a", "b", "left_better", 7)), start=100)
    now[0] = now[0].replace(minute=59)
    return now


def wins() -> int:
    return ModelStatsTotal.objects.get(model_id="a").win_count


def test_a_second_publication_within_the_hour_is_refused_and_changes_nothing(
    staff: Client, published: list[datetime]
) -> None:
    refused = staff.post("/api/worker/aggregate")
    check(refused.json(), NotDue)
    assert refused.status_code == 409
    assert refused.json() == {
        "code": "published_already",
        "detail": "This hour's boards are published. The next are due at 11:00 UTC.",
        "next_at": "2026-05-01T11:00:00+00:00",
    }
    tasks.aggregate()
    assert (wins(), Snapshot.objects.count()) == (7, 1)
    assert WorkerStatus.objects.get(worker_name="rankings.aggregate").status == "ok"
    published[0] += timedelta(minutes=1)
    assert staff.post("/api/worker/aggregate").json()["votes_processed"] == 7
    assert wins() == 14


def test_a_run_that_failed_is_no_publication(staff: Client, published: list[datetime]) -> None:
    published[0] += timedelta(hours=1)
    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(aggregation, "_store", lambda *_: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            aggregation.aggregate(once_an_hour=True)
    assert staff.post("/api/worker/aggregate").status_code == 200


def test_staff_force_a_publication_with_a_reason_that_the_audit_log_keeps(
    staff: Client, published: list[datetime]
) -> None:
    assert _force(staff, force=True, reason=" ").status_code == 422
    assert _force(staff, force=False, reason="why not").status_code == 409
    assert not ModerationAct.objects.exists()
    answer = _force(staff, force=True, reason="a stuffer led the board")
    assert (answer.status_code, wins()) == (200, 14)
    act = ModerationAct.objects.get()
    assert (act.action, act.moderator_name, act.reason) == ("publish", "operator", "a stuffer led the board")


def test_a_visitor_cannot_force(client: Client, published: list[datetime]) -> None:
    assert _force(client, force=True, reason="mine").status_code == 403
    assert wins() == 7


def _force(client: Client, **wish: Any) -> Any:
    return client.post("/api/worker/aggregate", wish, content_type="application/json")


def test_a_visitor_may_not_aggregate(client: Client) -> None:
    cast(ballots(("a", "b", "left_better", 7)))
    answer = client.post("/api/worker/aggregate")
    assert answer.status_code == 403
    assert not ModelStatsTotal.objects.exists()


def test_a_moderator_may_not_aggregate() -> None:
    assert logged_in(moderator()).post("/api/worker/aggregate").status_code == 403


def test_staff_without_a_role_may_not_aggregate(client: Client) -> None:
    client.force_login(User.objects.create_user("somebody", is_staff=True))
    assert client.post("/api/worker/aggregate").status_code == 403


def test_a_user_who_is_not_staff_may_not_aggregate(client: Client) -> None:
    client.force_login(User.objects.create_user("somebody"))
    assert client.post("/api/worker/aggregate").status_code == 403


def test_another_sites_page_cannot_make_staff_aggregate() -> None:
    guarded = logged_in(operator(), enforce_csrf_checks=True)
    assert guarded.post("/api/worker/aggregate").status_code == 403


def test_aggregating_is_not_done_by_reading(staff: Client) -> None:
    assert staff.get("/api/worker/aggregate").status_code == 405
