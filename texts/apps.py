from django.apps import AppConfig
from django.conf import settings


class TextsConfig(AppConfig):
    name = "texts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """The tables exist everywhere; the kind only where the site offers it."""
        from arena import kinds
        from texts.kind import Texts

        if Texts.id in settings.KINDS:
            kinds.register(Texts())
