"""/metrics: who may read it, and that it says how things stand."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from arena.models import Attempt, AttemptStatus, BattleStatus, Hosting
from rankings.models import WorkerStatus
from rankings.publication import checking
from rankings.votes import locking
from robots.models import Rollout
from tests.factories import BattleFactory, PolicyFactory, TurnFactory, VoteFactory
from vlaarena import health
from vlaarena.monitoring import readings

TOKEN = "0123456789abcdef-token"
ELSEWHERE = "203.0.113.5"
NEAR = {"Host": "localhost"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}
ORDER = "policy outcome phase le"
Figures = dict[str, dict[tuple[str, ...], float]]


@pytest.fixture(autouse=True)
def _parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No part is asked here: tests/system/test_health.py does."""
    monkeypatch.setattr(health, "parts_up", lambda: {"database": True, "worker": False})


def figures(client: Client) -> Figures:
    """Name of a sample -> values of its labels, in ORDER -> value."""
    answer = client.get("/metrics", headers=NEAR)
    assert answer.status_code == 200
    found: Figures = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            values = tuple(
                value for name, value in sorted(sample.labels.items(), key=lambda label: ORDER.find(label[0]))
            )
            found.setdefault(sample.name, {})[values] = sample.value
    return found


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        (ELSEWHERE, BEARER, 200),
        (ELSEWHERE, BEARER | {"X-Forwarded-For": ELSEWHERE}, 200),
        (ELSEWHERE, {"Authorization": "Bearer 0123456789abcdef-tokeN"}, 404),
        (ELSEWHERE, {"Authorization": f"Basic {TOKEN}"}, 404),
        ("127.0.0.1", {"Authorization": "Bearer wrong"}, 404),
        ("127.0.0.1", {"Authorization": "Bearer "}, 404),
        ("127.0.0.1", NEAR, 404),
    ],
)
@pytest.mark.django_db
def test_where_there_is_a_token_it_opens_and_nothing_else(
    client: Client, settings: Any, address: str, headers: dict[str, str], status: int
) -> None:
    settings.METRICS_TOKEN = TOKEN

    answer = client.get("/metrics", headers=headers, REMOTE_ADDR=address)

    assert answer.status_code == status
    assert (b"arena_workers" in answer.content) == (status == 200)


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("127.0.0.1", NEAR, 200),
        ("127.0.0.1", {"Host": "127.0.0.1:8000"}, 200),
        ("::1", {"Host": "[::1]:8000"}, 200),
        ("::ffff:127.0.0.1", NEAR, 200),
        (ELSEWHERE, NEAR, 404),
        ("", NEAR, 404),
        ("127.0.0.1", {}, 404),
        ("127.0.0.1", {"Host": "arena.example"}, 404),
        ("127.0.0.1", {"Host": "localhost.arena.example"}, 404),
        ("127.0.0.1", NEAR | {"X-Forwarded-For": "127.0.0.1"}, 404),
        ("127.0.0.1", NEAR | {"X-Forwarded-Proto": "http"}, 404),
        ("127.0.0.1", NEAR | {"X-Forwarded-Host": "localhost"}, 404),
        ("127.0.0.1", NEAR | {"X-Real-IP": "127.0.0.1"}, 404),
        ("127.0.0.1", NEAR | {"Forwarded": "for=127.0.0.1"}, 404),
        ("127.0.0.1", NEAR | {"Via": "1.1 proxy"}, 404),
        ("127.0.0.1", NEAR | {"Authorization": "Bearer "}, 200),
    ],
)
@pytest.mark.django_db
def test_without_a_token_only_this_host_may_read_and_no_proxy_between(
    client: Client, settings: Any, address: str, headers: dict[str, str], status: int
) -> None:
    settings.METRICS_TOKEN = ""
    settings.ALLOWED_HOSTS = ["*"]

    assert client.get("/metrics", headers=headers, REMOTE_ADDR=address).status_code == status


@pytest.mark.django_db
def test_the_plain_proxy_of_nginx_is_known_by_its_old_http(client: Client) -> None:
    """It adds no header, sends its target as the host, and speaks HTTP/1.0: `proxy_pass http://127.0.0.1:8000;`."""
    bare = {"headers": {"Host": "127.0.0.1:8000", "Connection": "close"}, "REMOTE_ADDR": "127.0.0.1"}

    assert client.get("/metrics", **bare, SERVER_PROTOCOL="HTTP/1.1").status_code == 200
    assert client.get("/metrics", **bare, SERVER_PROTOCOL="HTTP/1.0").status_code == 404


@pytest.mark.django_db
def test_a_site_for_the_public_answers_nobody_without_a_token(client: Client, settings: Any) -> None:
    """A proxy may look like a program of this host."""
    settings.HTTPS = True

    assert client.get("/metrics", headers=NEAR).status_code == 404


@pytest.mark.django_db
def test_the_queue_is_told_in_sums_with_its_oldest_wait(client: Client) -> None:
    turn = TurnFactory(created_at=timezone.now() - timedelta(seconds=90))
    right = turn.attempts.get(side="right")
    Attempt.objects.update(created_at=timezone.now() - timedelta(seconds=90))
    Attempt.objects.filter(pk=right.pk).update(status=AttemptStatus.RUNNING)

    told = figures(client)

    assert told["arena_rollouts_queued"] == {(): 1}
    assert told["arena_rollouts_running"] == {(): 1}
    assert 90 <= told["arena_queue_oldest_wait_seconds"][()] < 120


@pytest.mark.django_db
@pytest.mark.parametrize("status", [BattleStatus.ONGOING, BattleStatus.VOTED])
def test_no_figure_names_the_pair_that_is_played_while_its_hour_lasts_or_it_has_no_vote(
    client: Client, monkeypatch: pytest.MonkeyPatch, status: BattleStatus
) -> None:
    """Whatever a battle has (queued, completed, failed), its policies are named when hour and vote are over."""
    battle = BattleFactory(status=status)
    names = {battle.left_model_id, battle.right_model_id}
    now = timezone.now()
    for completed, result in ((False, {}), (True, {"finished_at": now})):
        TurnFactory(battle=battle, completed=completed).attempts.update(**result)
    failed = {"status": AttemptStatus.FAILED, "termination_reason": "policy_failed", "finished_at": now}
    TurnFactory(battle=battle, completed=True).attempts.update(**failed)

    assert names_told(client) == set()

    monkeypatch.setattr(readings.timezone, "now", lambda: now + timedelta(hours=1))
    assert names_told(client) == (names if status == BattleStatus.VOTED else set())


def names_told(client: Client) -> set[str]:
    """Policies that label anything but what workers can play."""
    told = figures(client)
    able = told.pop("arena_policy_workers")
    return {label for (label,) in able} & {label for labels in told.values() for values in labels for label in values}


@pytest.mark.django_db
def test_workers_are_told_with_what_they_can_play(client: Client) -> None:
    able, troubled, alone = (PolicyFactory(id=name) for name in ("able", "troubled", "alone"))
    Hosting.objects.create(worker="one@host", contestant=able, device="cpu")
    Hosting.objects.create(worker="one@host", contestant=troubled, device="cpu", trouble="no weights")
    Hosting.objects.create(worker="gone@host", contestant=alone, seen_at=timezone.now() - timedelta(minutes=5))

    told = figures(client)

    assert told["arena_workers"][()] == 1
    assert told["arena_worker_policies"] == {("one@host",): 1}
    assert told["arena_policy_workers"] == {("able",): 1, ("alone",): 0, ("troubled",): 0}


@pytest.mark.django_db
def test_rollouts_of_the_last_hour_tell_where_their_time_went_and_how_they_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now().replace(minute=30)
    turn = VoteFactory().battle.turns.get()
    left, right = turn.attempts.order_by("side")
    phases = {"infer_ms": 2200.0, "render_ms": 400.0, "physics_ms": 300.0, "store_ms": 7.0}
    Rollout.objects.create(attempt=left, **phases)
    Attempt.objects.filter(pk=left.pk).update(
        duration_ms=3000.0,
        finished_at=now,
        created_at=now - timedelta(seconds=5),
        started_at=now - timedelta(seconds=4),
    )
    Attempt.objects.filter(pk=right.pk).update(
        status=AttemptStatus.FAILED,
        termination_reason="policy_failed",
        finished_at=now,
        started_at=None,
        duration_ms=None,
    )
    old = VoteFactory().battle.turns.get()
    old.attempts.update(finished_at=now - timedelta(hours=1))
    for each in old.attempts.all():
        Rollout.objects.create(attempt=each, infer_ms=1.0)
    monkeypatch.setattr(readings.timezone, "now", lambda: now + timedelta(hours=1))

    told = figures(client)

    assert told["arena_rollouts_last_hour"] == {
        (left.model_id, "completed"): 1,
        (right.model_id, "policy_failed"): 1,
    }
    buckets = told["arena_rollout_seconds_bucket"]
    assert (buckets[("infer", "1.0")], buckets[("infer", "2.5")], buckets[("infer", "+Inf")]) == (0, 1, 1)
    assert (buckets[("wait", "0.5")], buckets[("wait", "1.0")]) == (0, 1)
    assert told["arena_rollout_seconds_gsum"][("total",)] == 3.0
    assert told["arena_rollout_seconds_gcount"][("store",)] == 1


@pytest.mark.django_db
def test_what_ended_lately_is_told_at_once_but_not_of_whom_and_without_cancelled_turns(client: Client) -> None:
    now = timezone.now()
    right = TurnFactory(completed=True).attempts.get(side="right")
    failed = {"status": AttemptStatus.FAILED, "finished_at": now}
    Attempt.objects.filter(pk=right.pk).update(**failed, termination_reason="policy_failed")
    TurnFactory(completed=True).attempts.update(**failed, termination_reason="cancelled")
    TurnFactory(completed=True).attempts.update(finished_at=now - timedelta(minutes=20))

    assert figures(client)["arena_rollouts_settled_lately"] == {("completed",): 1, ("policy_failed",): 1}


@pytest.mark.django_db
def test_a_cancelled_turn_is_no_failure_of_the_last_hour_either(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    turn = VoteFactory().battle.turns.get()
    turn.attempts.update(status=AttemptStatus.FAILED, termination_reason="cancelled", finished_at=now)
    monkeypatch.setattr(readings.timezone, "now", lambda: now + timedelta(hours=1))

    assert readings.speeds(readings.played()) == []
    assert readings.failures() == []
    assert "arena_rollouts_last_hour" not in figures(client)


@pytest.mark.django_db
def test_boards_say_how_old_they_are_and_whether_they_were_checked(client: Client) -> None:
    fresh = figures(client)
    assert "arena_boards_age_seconds" not in fresh
    assert "arena_counts_check_ok" not in fresh

    hour_ago = timezone.now() - timedelta(hours=1)
    WorkerStatus.objects.create(worker_name=locking.WORKER, published_at=hour_ago, last_run_at=hour_ago, status="ok")
    WorkerStatus.objects.create(worker_name=checking.WORKER, last_run_at=hour_ago, status="different")
    told = figures(client)

    assert 3600 <= told["arena_boards_age_seconds"][()] < 3660
    assert (told["arena_aggregation_ok"][()], told["arena_counts_check_ok"][()]) == (1, 0)


@pytest.mark.django_db
def test_without_a_database_the_rest_is_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise DatabaseError("it is down")

    monkeypatch.setattr(readings, "queue", broken)
    told = figures(client)

    assert told["arena_readings_ok"][()] == 0
    assert "arena_queue_oldest_wait_seconds" not in told
    assert told["arena_part_up"] == {("database",): 1, ("worker",): 0}
    assert told["arena_disk_free_bytes"][()] > 0


@pytest.mark.django_db
def test_asking_costs_a_few_queries_however_much_there_is(client: Client, django_assert_max_num_queries: Any) -> None:
    for _ in range(5):
        TurnFactory(completed=True)
        TurnFactory()

    with django_assert_max_num_queries(10):
        figures(client)


@pytest.mark.django_db
def test_no_query_of_it_reads_a_table_of_battles_or_votes_from_end_to_end(
    client: Client, django_capture_on_commit_callbacks: Any
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    if connection.vendor != "sqlite":
        return
    with CaptureQueriesContext(connection) as queries:
        figures(client)
    for query in queries.captured_queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plan = " / ".join(row[-1] for row in cursor.fetchall())
        assert not re.search(r"SCAN (rollouts|votes|turns|battles|counted_votes)\b(?! USING)", plan), (query, plan)
