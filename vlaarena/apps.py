from django.apps import AppConfig


class VlaArenaConfig(AppConfig):
    name = "vlaarena"

    def ready(self) -> None:
        from vlaarena import celery  # noqa: F401 - tasks are sent and run by the application that is made there
