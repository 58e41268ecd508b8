"""Health names each part and its state."""

from __future__ import annotations

import pytest
from django.test import Client


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
