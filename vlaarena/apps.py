from django.apps import AppConfig


class VlaArenaConfig(AppConfig):
    name = "vlaarena"

    def ready(self) -> None:
        from vlaarena import celery  # noqa: F401 - creates the application that sends and runs tasks
