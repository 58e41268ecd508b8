"""Voice agents as contestants: conversations by voice on a task."""

from __future__ import annotations

from django.apps import AppConfig


class VoiceConfig(AppConfig):
    """Not registered with `arena.kinds` yet: a kind has a page, and voice battles have none (decision: voice)."""

    name = "voice"
    default_auto_field = "django.db.models.BigAutoField"
