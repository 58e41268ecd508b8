"""Health names each part and its state."""

from __future__ import annotations

import pytest
from django.test import Client

from vlaarena import health

pytestmark = pytest.mark.engine


@pytest.mark.django_db(transaction=True)
def test_without_a_worker_health_says_so_with_503_and_the_other_parts_answer(client: Client) -> None:
    response = client.get("/api/health")
    parts = response.json()["parts"]
    assert response.status_code == 503
    assert {name: part["status"] for name, part in parts.items()} == {
        "database": "ok",
        "episodes": "ok",
        "broker": "ok",
        "channels": "ok",
        "worker": "down",
    }


def test_good_news_counts_for_a_second_and_bad_news_is_asked_for_again(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = ["ok", "ok", "down", "down"]
    asked: list[str] = []

    async def check_parts() -> health.Parts:
        asked.append(answers[len(asked)])
        return {"database": {"status": asked[-1], "detail": ""}}

    now = [100.0]
    monkeypatch.setattr(health, "_healthy", (float("-inf"), {}))
    monkeypatch.setattr(health, "check_parts", check_parts)
    monkeypatch.setattr(health.time, "monotonic", lambda: now[0])

    def ask(at: float) -> int:
        now[0] = at
        return client.get("/api/health").status_code

    assert [ask(100.0), ask(100.9)] == [200, 200]
    assert asked == ["ok"]
    assert ask(101.1) == 200
    assert [ask(102.2), ask(102.3)] == [503, 503]
    assert asked == ["ok", "ok", "down", "down"]


def test_no_part_tells_the_names_of_our_hosts(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_worker_answered", float("-inf"))
    monkeypatch.setattr(health.app.control, "ping", lambda **_: [{"arena-7@inner-host": {"ok": "pong"}}])

    assert health._check_worker() == "answers"


@pytest.mark.parametrize(
    ("down", "live", "ready", "whole"),
    [(None, 200, 200, 200), ("worker", 200, 200, 503), ("database", 200, 503, 503), ("channels", 200, 503, 503)],
)
def test_a_web_process_is_live_whatever_is_down_and_ready_without_workers(
    client: Client, monkeypatch: pytest.MonkeyPatch, down: str | None, live: int, ready: int, whole: int
) -> None:
    names = ("database", "episodes", "broker", "channels", "worker")

    async def check_parts() -> health.Parts:
        return {name: {"status": "down" if name == down else "ok", "detail": ""} for name in names}

    monkeypatch.setattr(health, "_healthy", (float("-inf"), {}))
    monkeypatch.setattr(health, "check_parts", check_parts)

    answers = {address: client.get(f"/api/health{address}") for address in ("/live", "/ready", "")}

    assert [answer.status_code for answer in answers.values()] == [live, ready, whole]
    assert set(answers["/ready"].json()["parts"]) == {"database", "episodes", "broker", "channels"}
    assert set(answers[""].json()["parts"]) == set(names)


def test_whether_it_lives_is_told_without_asking_anybody(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    async def check_parts() -> health.Parts:
        raise AssertionError("it asked")

    monkeypatch.setattr(health, "check_parts", check_parts)

    assert client.get("/api/health/live").json() == {"status": "ok"}
