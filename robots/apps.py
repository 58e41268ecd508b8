import logging

from django.apps import AppConfig
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

log = logging.getLogger(__name__)


class RobotsConfig(AppConfig):
    name = "robots"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.db.models.signals import post_save

        from arena import kinds
        from policies.models import Policy
        from robots.kind import Robots
        from robots.submissions import note_revision
        from simulation import catalogue
        from simulation.catalogue_rows import CatalogueError

        try:
            catalogue.offer(settings.OFFERED_SCENES)
        except CatalogueError as error:
            raise ImproperlyConfigured(f"ARENA_OFFERED_SCENES: {error}") from None
        kinds.register(Robots())
        post_save.connect(note_revision, Policy)
        for world, missing in catalogue.lacking().items():
            log.warning("%s is not played here: %s", world, missing)
