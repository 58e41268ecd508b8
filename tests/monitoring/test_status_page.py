"""The admin's status page: operators see at a glance what works, what waits, who plays and what failed."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from arena.models import Attempt, AttemptStatus, Hosting
from rankings.models import Finding, Report, Snapshot, WorkerStatus
from rankings.publication import checking
from rankings.votes import locking
from robots.models import Rollout
from tests.factories import BattleFactory, PolicyFactory, TextModelFactory, TurnFactory, VoteFactory
from tests.people import logged_in, moderator, operator
from vlaarena import health
from vlaarena.monitoring import status_page

pytestmark = pytest.mark.django_db
NASTY = "<script>alert('no')</script>"


@pytest.fixture(autouse=True)
def _parts(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {
        "database": {"status": "ok", "detail": "sqlite"},
        "worker": {"status": "down", "detail": "NoWorker"},
    }
    monkeypatch.setattr(health, "parts_now", lambda: told)


def page(user: User | None = None) -> str:
    answer = logged_in(user or operator()).get("/admin/status/")
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def test_moderators_and_operators_may_look_and_others_may_not() -> None:
    nobody_s = User.objects.create_user("staff without a role", password="long enough it is", is_staff=True)

    assert logged_in(operator()).get("/admin/status/").status_code == 200
    assert logged_in(moderator()).get("/admin/status/").status_code == 200
    assert logged_in(nobody_s).get("/admin/status/").status_code == 403
    assert Client().get("/admin/status/").status_code == 302


def test_the_admin_leads_there_whoever_may_look() -> None:
    nobody_s = User.objects.create_user("staff without a role", password="long enough it is", is_staff=True)

    assert 'href="/admin/status/"' in logged_in(operator()).get("/admin/").content.decode()
    assert 'href="/admin/status/"' not in logged_in(nobody_s).get("/admin/").content.decode()


def test_an_empty_arena_has_a_page_too() -> None:
    told = page()

    assert "rollouts; 0 are played now" in told
    assert "No worker has announced anything lately" in told
    assert "none yet" in told


def test_a_part_that_is_down_is_named() -> None:
    assert re.search(r'is-bad"> <strong>worker</strong> <span class="status-word">down</span>', page())


def test_queue_workers_speeds_and_failures_are_told() -> None:
    now = timezone.now()
    waiting = TurnFactory()
    waiting.attempts.update(created_at=now - timedelta(minutes=5))
    done = VoteFactory().battle.turns.get()
    slow, broken = done.attempts.order_by("side")
    hour_ago = now - timedelta(hours=1)
    Attempt.objects.filter(pk=slow.pk).update(finished_at=hour_ago, duration_ms=6000.0)
    Rollout.objects.create(attempt=slow, infer_ms=4321.0)
    Attempt.objects.filter(pk=broken.pk).update(
        status=AttemptStatus.FAILED, termination_reason="policy_failed", error=NASTY, finished_at=hour_ago
    )
    Hosting.objects.create(worker="one@host", contestant=slow.model, device="cpu")
    Hosting.objects.create(worker="one@host", contestant=PolicyFactory(id="heavy"), device="cpu", trouble="no memory")

    told = page()

    assert "<dt>Queued</dt> <dd>2</dd>" in told
    assert "5 min" in told
    assert "one@host" in told
    assert "cannot play heavy</span> no memory" in told
    assert ">4.32</td>" in told
    assert "&lt;script&gt;" in told
    assert NASTY not in told
    assert f"/admin/arena/attempt/{broken.pk}/change/" in told


def test_who_plays_who_waits_and_who_failed_is_not_told_before_the_vote() -> None:
    battle = BattleFactory(left_model__id="hidden-one", right_model__id="hidden-two")
    TurnFactory(battle=battle)
    played, turn = TurnFactory(battle=battle, completed=True), TurnFactory(battle=battle, completed=True)
    sides = Attempt.objects.filter(turn__in=[played, turn])
    sides.update(finished_at=timezone.now() - timedelta(hours=1))
    for side in sides:
        Rollout.objects.create(attempt=side, infer_ms=4321.0)
    failed = turn.attempts.get(side="left")
    Attempt.objects.filter(pk=failed.pk).update(
        status=AttemptStatus.FAILED, termination_reason="policy_failed", error="its tensors are wrong"
    )

    told = page()

    for hidden in ("hidden-one", "hidden-two", "policy_failed", "its tensors are wrong", "4.32"):
        assert hidden not in told
    assert f"/admin/arena/attempt/{failed.pk}/change/" not in told
    assert f"/admin/arena/turn/{turn.pk}/change/" in told
    assert "hidden until the vote" in told


def test_a_cancelled_turn_is_no_failure() -> None:
    turn = VoteFactory().battle.turns.get()
    turn.attempts.update(
        status=AttemptStatus.FAILED, termination_reason="cancelled", finished_at=timezone.now() - timedelta(hours=1)
    )

    told = page()

    assert "No rollout has failed." in told
    assert "No rollout of a voted battle has ended in these hours." in told


def test_of_many_policies_the_slowest_are_told() -> None:
    hour_ago = timezone.now() - timedelta(hours=1)
    for number in range(status_page.SLOWEST_SHOWN + 1):
        left, right = VoteFactory().battle.turns.get().attempts.order_by("side")
        Attempt.objects.filter(pk=left.pk).update(
            model=PolicyFactory(id=f"slow-{number}"), finished_at=hour_ago, duration_ms=1000.0 + number
        )
        Attempt.objects.filter(pk=right.pk).update(finished_at=None)

    told = page()

    assert 'scope="row">slow-0<' not in told
    assert [f'scope="row">slow-{number}<' in told for number in range(1, 16)] == [True] * 15


def test_rankings_say_when_they_were_published_and_what_is_wrong_with_them() -> None:
    old = timezone.now() - timedelta(hours=5)
    WorkerStatus.objects.create(worker_name=locking.WORKER, published_at=old, last_run_at=old, status="ok")
    WorkerStatus.objects.create(
        worker_name=checking.WORKER, last_run_at=old, status="different", error_message="3 differences: counts"
    )
    Finding.objects.create(kind=Finding.Kind.OUTLIER, subject="somebody", summary="unlike all others")
    snapshot = Snapshot.objects.create(kind="robots", input_hash="ab" * 32, counts=b"")
    agreement = {
        "overall": {"parted": False},
        "tasks": {"stack": {"parted": True}, "pick": {"parted": False}},
        "policies": {},
    }
    content = {"removal": {"movers": 2}, "voters": {"flagged": 7}, "agreement": agreement}
    Report.objects.create(snapshot=snapshot, content=content)

    told = page()

    assert "5.0 h old" in told
    assert "3 differences: counts" in told
    assert "<code>abababababababab</code>" in told
    assert "1 outlier" in told
    assert '<span class="status-word">stack</span>' in told
    assert ">pick<" not in told


def test_the_page_keeps_the_site_s_rules_about_scripts_and_styles() -> None:
    told = page()

    assert "<script>" not in told
    assert " style=" not in told
    assert "<style" not in told


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (90, "2 min"), (5400, "1.5 h"), (3 * 86400, "3.0 d")]
)
def test_spans_of_time_are_told_in_the_unit_that_fits(seconds: float, text: str) -> None:
    assert status_page.span(seconds) == text


def test_models_of_every_kind_that_are_not_drawn_say_why() -> None:
    user = operator()
    assert "Models that are not drawn" not in page(user)
    TextModelFactory(name="Quiet").mark_unavailable(f"server: status 503 {NASTY}")
    PolicyFactory(name="Torn").mark_unavailable("no weights")
    told = page(user)
    assert '<td>text</td><th scope="row">Quiet</th><td>server: status 503 &lt;script&gt;' in told
    assert '<td>robots</td><th scope="row">Torn</th><td>no weights</td>' in told
