from django.apps import AppConfig


class ArenaConfig(AppConfig):
    name = "arena"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena.gallery.entering import ask_to_enter, renew_words
        from arena.signals import vote_cast, words_changed
        from arena.visitors import challenges

        vote_cast.connect(ask_to_enter, dispatch_uid="arena.enter_vote")
        words_changed.connect(renew_words, dispatch_uid="arena.renew_words")
        challenges.chosen()  # fails at the start if the configured challenge does not exist
