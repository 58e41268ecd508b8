"""Voice agents as contestants: conversations by voice on a task."""

from __future__ import annotations

from django.apps import AppConfig


class VoiceConfig(AppConfig):
    name = "voice"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """The kind is known everywhere, so that votes on it stay what they are where it is not offered (any more)."""
        from arena import kinds, signals
        from voice.kind import Voice

        kinds.register(Voice())
        signals.connect(signals.vote_cast, "voice.battles.evaluating.ask_to_evaluate")
