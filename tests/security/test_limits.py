"""Every call that changes something has a limit, and every limit has its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

from arena.visitors.throttles import Limited
from tests.arena.conftest import Visitor, play_battle
from tests.fakes import FakeRuntime
from tests.people import logged_in, operator
from vlaarena import settings as as_shipped

WRITING = ("post", "put", "patch", "delete")


def views() -> Iterator[tuple[str, Any]]:
    def below(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[tuple[str, Any]]:
        for each in patterns:
            route = prefix + str(each.pattern)
            if isinstance(each, URLResolver):
                yield from below(each.url_patterns, route)
            else:
                yield route, getattr(each.callback, "cls", None)

    yield from below(get_resolver().url_patterns, "")


def test_every_call_that_writes_is_limited() -> None:
    writing = [(route, view) for route, view in views() if any(hasattr(view, method) for method in WRITING)]
    assert len(writing) > 10
    for route, view in writing:
        assert any(issubclass(each, Limited) for each in view.throttle_classes), f"{route} has no limit"
        assert as_shipped.RATE_LIMITS[view.throttle_scope]["address"], view.throttle_scope


@pytest.fixture
def once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One cancellation and one aggregation a minute."""
    one = {"address": ((1, 60),)}
    monkeypatch.setattr(settings, "RATE_LIMITS", {"cancels": one, "aggregations": one})


def test_cancelling_runs_out(visitor: Visitor, runtime: FakeRuntime, once: None) -> None:
    battle_id = play_battle(visitor)
    turn_id = visitor.battle(battle_id)["turns"][0]["turn_id"]
    assert visitor.post(f"turns/{turn_id}/cancel").status_code == 409
    assert visitor.post(f"turns/{turn_id}/cancel").status_code == 429


def test_aggregating_runs_out(transactional_db: None, once: None) -> None:
    client = logged_in(operator())
    assert client.post("/api/worker/aggregate").status_code == 200
    assert client.post("/api/worker/aggregate").status_code == 429
