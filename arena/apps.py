from django.apps import AppConfig


class ArenaConfig(AppConfig):
    name = "arena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena import signals
        from arena.visitors import challenges

        signals.connect(signals.vote_cast, "arena.gallery.entering.ask_to_enter")
        signals.connect(signals.words_changed, "arena.gallery.entering.renew_words")
        challenges.chosen()  # fails at the start if the configured challenge does not exist
