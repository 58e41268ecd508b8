from django.apps import AppConfig


class RankingsConfig(AppConfig):
    name = "rankings"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena import signals

        signals.connect(signals.vote_cast, "rankings.votes.ledger.take_vote")
        signals.connect(signals.moderated, "rankings.moderation.acts.note_act")
