from __future__ import annotations

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from people import own_data, parts, signals, submission_parts, text_parts, written_parts

        signals.connect()
        for part in (*parts.PARTS, *text_parts.PARTS, *written_parts.PARTS, *submission_parts.PARTS):
            own_data.register(part)
