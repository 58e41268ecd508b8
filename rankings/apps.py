from django.apps import AppConfig


class RankingsConfig(AppConfig):
    name = "rankings"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from arena.signals import moderated, vote_cast
        from rankings.moderation.acts import note_act
        from rankings.votes.ledger import take_vote

        vote_cast.connect(take_vote, dispatch_uid="rankings.count_vote")
        moderated.connect(note_act, dispatch_uid="rankings.note_act")
