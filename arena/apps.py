from django.apps import AppConfig


class ArenaConfig(AppConfig):
    name = "arena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena.visitors import challenges

        challenges.chosen()  # fails at the start if the configured challenge does not exist
