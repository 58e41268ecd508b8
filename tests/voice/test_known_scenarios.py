"""Scenarios that can be chosen: those of the files as they were edited, and those that were added in the admin."""

from __future__ import annotations

import pytest
from django.db import DatabaseError

from arena import kinds
from tests.voice.battles import turn_on
from voice.battles import scenarios
from voice.models import ScenarioRow


@pytest.mark.django_db
def test_added_and_edited_scenarios_are_offered_where_voice_is_on(monkeypatch: pytest.MonkeyPatch) -> None:
    turn_on(monkeypatch)
    added = ScenarioRow.objects.get(pk="haircut")
    added.pk, added.name, added.category = "shave", "A shave", "support"
    added.save(force_insert=True)
    ScenarioRow.objects.filter(pk="haircut").update(name="A trim")
    kind = kinds.get("voice")
    assert "shave" in kind.places()["support"]
    assert kind.titles()["haircut"] == "A trim"
    assert kind.task_of("whatever it is called", "shave") == "shave"


def test_before_the_migrations_the_files_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_table(*args: object) -> None:
        raise DatabaseError("no such table")

    monkeypatch.setattr(scenarios.settings, "KINDS", ["robots", "voice"])
    monkeypatch.setattr(ScenarioRow.objects, "order_by", no_table)
    assert sum(map(len, kinds.get("voice").places().values())) == 10
