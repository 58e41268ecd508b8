from django.apps import AppConfig


class RankingsConfig(AppConfig):
    name = "rankings"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena.signals import vote_cast
        from rankings.votes.ledger import take_vote

        vote_cast.connect(take_vote, dispatch_uid="rankings.count_vote")
