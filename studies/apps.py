from __future__ import annotations

from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "studies"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from people import own_data

        own_data.register("studies.own_parts")
