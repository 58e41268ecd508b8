"""`ARENA_KINDS=robots,voice` enters scenarios and agents, and turns on nothing that visitors see."""

from __future__ import annotations

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client

from arena import kinds
from arena.models import Contestant
from voice.models import ScenarioRow


@pytest.mark.django_db
@pytest.mark.parametrize("on", [False, True])
def test_prepare_enters_voice_where_it_is_on(on: bool, settings: LazySettings) -> None:
    settings.KINDS = ["robots", "voice"] if on else ["robots"]
    call_command("prepare", verbosity=0)
    assert ScenarioRow.objects.count() == (10 if on else 0)
    assert Contestant.objects.filter(kind="voice").count() == (3 if on else 0)


@pytest.mark.django_db
def test_visitors_see_nothing_of_it(settings: LazySettings, client: Client) -> None:
    settings.KINDS = ["robots", "voice"]
    call_command("prepare", verbosity=0)
    assert "voice" not in {kind.id for kind in kinds.every()}
    assert client.get("/voice").status_code == 404
    refused = client.post("/api/sessions/init", {"kind": "voice"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_kind")
    for address in ("/api/models", "/api/leaderboard", "/battles/", "/models", "/leaderboard", "/"):
        assert "local-rules" not in client.get(address, follow=True).content.decode(), address
