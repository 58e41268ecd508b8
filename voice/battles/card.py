"""The card of a scenario: what the visitor wants, and what they know."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy

from voice.models import VOICE, ScenarioRow

CATEGORIES = {
    "booking": gettext_lazy("Booking"),
    "support": gettext_lazy("Support"),
    "info_retrieval": gettext_lazy("Information"),
}
DIFFICULTIES = {"easy": gettext_lazy("Easy"), "medium": gettext_lazy("Medium"), "hard": gettext_lazy("Hard")}

ARCHITECTURES = {
    "cascade": gettext_lazy("Cascade"),
    "half_cascade": gettext_lazy("Half cascade"),
    "s2s": gettext_lazy("Speech to speech"),
    "orchestrator": gettext_lazy("Orchestrator"),
    "hybrid": gettext_lazy("Hybrid"),
}
"""As an agent's row has it (`VoiceAgent.Architecture`) -> what boards call it."""


def of(scenario_id: str) -> dict[str, Any] | None:
    """None for a scenario that is not in the database (any more)."""
    row = ScenarioRow.objects.filter(pk=scenario_id).first() if VOICE in settings.KINDS else None
    if row is None:
        return None
    return {
        "id": row.pk,
        "category_id": row.category,
        "name": row.name,
        "category": CATEGORIES.get(row.category, row.category),
        "difficulty": DIFFICULTIES.get(row.difficulty, row.difficulty),
        "description": row.description_for_user,
        "you_know": {name.replace("_", " "): value for name, value in row.you_know.items()},
        "minutes": f"{row.max_duration_seconds / 60:g}",
        "turns": row.max_turns,
    }
