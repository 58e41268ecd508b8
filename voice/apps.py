"""Voice agents as contestants: conversations by voice on a task."""

from __future__ import annotations

from django.apps import AppConfig


class VoiceConfig(AppConfig):
    name = "voice"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """The kind is known everywhere, so that votes on it stay what they are where it is not offered (any more)."""
        from arena import kinds
        from arena.signals import vote_cast
        from voice.battles.evaluating import ask_to_evaluate
        from voice.kind import Voice

        kinds.register(Voice())
        vote_cast.connect(ask_to_evaluate, dispatch_uid="voice.evaluate_vote")
