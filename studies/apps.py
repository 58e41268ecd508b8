from __future__ import annotations

from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "studies"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from people import own_data
        from studies.own_parts import PARTS

        for part in PARTS:
            own_data.register(part)
