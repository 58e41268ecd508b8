import logging

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

log = logging.getLogger(__name__)


class RobotsConfig(AppConfig):
    name = "robots"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena import kinds
        from robots.kind import Robots
        from simulation import catalogue
        from simulation.catalogue_rows import CatalogueError

        try:
            catalogue.offer(settings.OFFERED_SCENES)
        except CatalogueError as error:
            raise ImproperlyConfigured(f"ARENA_OFFERED_SCENES: {error}") from None
        kinds.register(Robots())
        for world, missing in catalogue.lacking().items():
            log.warning("%s is not played here: %s", world, missing)
