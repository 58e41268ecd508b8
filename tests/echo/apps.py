"""A kind of arena in a folder: two contestants answer a turn with words. The core runs it without knowing of it."""

from django.apps import AppConfig


class EchoConfig(AppConfig):
    name = "tests.echo"

    def ready(self) -> None:
        from arena import kinds
        from tests.echo.kind import Echo

        kinds.register(Echo())
