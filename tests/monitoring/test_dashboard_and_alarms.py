"""Dashboard, alarms and their page speak of figures that exist, and each alarm is explained."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client
from django.utils import timezone

from arena.metrics import EVENTS, VOTES
from arena.models import AttemptStatus, Hosting
from arena.store import STORE_SECONDS
from rankings.models import WorkerStatus
from rankings.publication import checking
from rankings.votes import locking
from robots.models import Rollout
from tests.factories import TurnFactory, VoteFactory
from tests.stack import BASE_DIR
from vlaarena import health

DEPLOY = Path(BASE_DIR) / "deploy"
PROMETHEUS_OWN = {"up"}
NAME = re.compile(r"\b(?:arena|process)_[a-z_]+\b|\bup\b")


def dashboard() -> dict[str, Any]:
    return dict(json.loads((DEPLOY / "grafana" / "vla-arena.json").read_text()))


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((DEPLOY / "prometheus" / "alarms.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def expressions() -> list[str]:
    drawn = [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", [])]
    return [*drawn, *(rule["expr"] for rule in rules())]


def without_labels(expression: str) -> str:
    """Label values may look like names of figures."""
    return re.sub(r"\{[^}]*\}", "", expression)


@pytest.mark.django_db
def test_every_figure_named_in_them_is_one_that_the_arena_tells(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "parts_up", lambda: {"database": True})
    hour_ago = timezone.now() - timedelta(hours=1)
    sides = VoteFactory().battle.turns.get().attempts
    sides.update(finished_at=hour_ago)
    for side in sides.all():
        Rollout.objects.create(attempt=side, infer_ms=1.0)
    TurnFactory(completed=True).attempts.update(finished_at=timezone.now())
    playing = TurnFactory().attempts.order_by("side")[1]
    playing.status = AttemptStatus.RUNNING
    playing.save()
    Hosting.objects.create(worker="one@host", contestant=playing.model)
    for worker in (locking.WORKER, checking.WORKER):
        WorkerStatus.objects.create(
            worker_name=worker, last_run_at=timezone.now(), published_at=timezone.now(), status="ok"
        )
    EVENTS.labels("snapshot")
    VOTES.labels("tie")
    STORE_SECONDS.labels("get")
    client.get("/api/robots")

    told = {
        re.split(r"[{ ]", line)[0]
        for line in client.get("/metrics", headers={"Host": "localhost"}).content.decode().splitlines()
    }

    named = {name for expression in expressions() for name in NAME.findall(without_labels(expression))}
    assert len(named) > 20
    assert named - told - PROMETHEUS_OWN == set()


def test_the_route_that_waits_for_turns_is_left_out_under_the_name_it_has(client: Client) -> None:
    from django.urls import get_resolver

    routes = set()

    def walk(patterns: Any, before: str) -> None:
        for pattern in patterns:
            address = before + str(pattern.pattern)
            routes.add(address.rstrip("/"))
            walk(getattr(pattern, "url_patterns", []), address)

    walk(get_resolver().url_patterns, "")
    left_out = {name for expression in expressions() for name in re.findall(r'route!="([^"]+)"', expression)}
    assert left_out
    assert left_out <= routes


def test_every_alarm_says_what_is_wrong_how_urgent_it_is_and_stands_in_the_operator_s_page() -> None:
    page = (Path(BASE_DIR) / "docs" / "operations.md").read_text()
    for rule in rules():
        assert rule["labels"]["severity"] in ("page", "ticket")
        assert rule["annotations"]["summary"]
        assert f"`{rule['alert']}`" in page


def test_no_panel_covers_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in dashboard()["panels"]:
        place = panel["gridPos"]
        own = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in own) < 24
        assert not own & taken, panel["title"]
        taken |= own
