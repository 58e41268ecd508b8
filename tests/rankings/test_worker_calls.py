"""`GET /api/worker/status` and `POST /api/worker/aggregate`: who may, and what they tell."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from arena.models import Vote
from arena.shapes import check
from rankings import aggregation
from rankings.models import ModelStatsTotal, WorkerStatus
from rankings.shapes import Aggregated, Worker
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(User.objects.create_user("moderator", is_staff=True))
    return client


def test_before_the_first_run_the_worker_says_that_it_never_ran(client: Client) -> None:
    answer = client.get("/api/worker/status").json()
    check(answer, Worker)
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


def test_only_staff_read_the_wording_of_an_error(client: Client, staff: Client) -> None:
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


def test_a_visitor_may_not_aggregate(client: Client) -> None:
    cast(ballots(("a", "b", "left_better", 7)))
    answer = client.post("/api/worker/aggregate")
    assert answer.status_code == 403
    assert not ModelStatsTotal.objects.exists()


def test_a_user_who_is_not_staff_may_not_aggregate(client: Client) -> None:
    client.force_login(User.objects.create_user("somebody"))
    assert client.post("/api/worker/aggregate").status_code == 403


def test_another_sites_page_cannot_make_staff_aggregate() -> None:
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(User.objects.create_user("moderator", is_staff=True))
    assert guarded.post("/api/worker/aggregate").status_code == 403


def test_aggregating_is_not_done_by_reading(staff: Client) -> None:
    assert staff.get("/api/worker/aggregate").status_code == 405
