from django.apps import AppConfig


class RobotsConfig(AppConfig):
    name = "robots"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena import kinds
        from robots.pages.battle import Robots

        kinds.register(Robots())
