import logging

from django.apps import AppConfig

log = logging.getLogger(__name__)


class RobotsConfig(AppConfig):
    name = "robots"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena import kinds
        from robots.kind import Robots
        from simulation import catalogue

        kinds.register(Robots())
        for world, missing in catalogue.lacking().items():
            log.warning("%s is not played here: %s", world, missing)
