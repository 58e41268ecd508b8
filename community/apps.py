from django.apps import AppConfig


class CommunityConfig(AppConfig):
    name = "community"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena.pages.parts import add_below_shared
        from community.shared_page import below_shared

        add_below_shared(below_shared)
