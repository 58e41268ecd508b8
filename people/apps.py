from __future__ import annotations

from django.apps import AppConfig


class PeopleConfig(AppConfig):
    name = "people"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from people import own_data, signals

        signals.connect()
        for name in ("parts", "text_parts", "voice_parts", "written_parts", "submission_parts"):
            own_data.register(f"people.{name}")
