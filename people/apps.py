from __future__ import annotations

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from people import own_data, parts, signals, submission_parts, text_parts, voice_parts, written_parts

        signals.connect()
        own = (parts, text_parts, voice_parts, written_parts, submission_parts)
        for part in (each for room in own for each in room.PARTS):
            own_data.register(part)
