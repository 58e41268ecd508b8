"""Health names each part and its state."""

from __future__ import annotations

import pytest
from django.test import Client

from vlaarena import health


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
