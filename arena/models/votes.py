"""Votes: append-only except for their processing state."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from arena.models.battles import Battle, Session
from arena.models.choices import ProcessingStatus, Purpose, VoteChoice
from arena.models.contestants import Contestant
from arena.models.defaults import _vote_id


class Vote(models.Model):
    """The vote that ends a battle. Append-only except for the processing columns; copies what it judged."""

    vote_id = models.CharField(max_length=50, unique=True, default=_vote_id, editable=False)
    battle = models.OneToOneField(
        Battle, to_field="battle_id", db_column="battle_id", on_delete=models.PROTECT, related_name="vote"
    )
    session = models.ForeignKey(
        Session, to_field="session_id", db_column="session_id", on_delete=models.PROTECT, related_name="votes"
    )
    user_id = models.CharField(max_length=50, null=True, blank=True, db_index=True)
    kind = models.CharField(max_length=20)
    setting = models.CharField(max_length=50, db_column="robot_id", db_index=True)
    scene = models.CharField(max_length=50, db_column="scene_id", db_index=True, blank=True)
    left_model = models.ForeignKey(
        Contestant, db_column="left_model_id", on_delete=models.PROTECT, related_name="votes_left", db_index=False
    )
    right_model = models.ForeignKey(
        Contestant, db_column="right_model_id", on_delete=models.PROTECT, related_name="votes_right", db_index=False
    )
    vote = models.CharField(max_length=20, choices=VoteChoice.choices)
    purpose = models.CharField(max_length=10, choices=Purpose.choices, default=Purpose.RANK, db_index=True)
    address = models.CharField(
        max_length=24, blank=True, editable=False, help_text="A keyed digest of the address that it came from."
    )
    network = models.CharField(
        max_length=24,
        blank=True,
        editable=False,
        help_text="A keyed digest of the address' /24 or /48; empty for networks without a cap and for old votes.",
    )
    dwell_ms = models.PositiveIntegerField(
        null=True, blank=True, help_text="From both sides' end of the last completed turn to the vote."
    )
    reasons = models.JSONField(
        default=dict, blank=True, help_text="Respect -> which side was better in it; respects are the kind's."
    )
    moved = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Cast under another id and moved to this voter: its answer to a clear battle earns no trust.",
    )
    processing_status = models.CharField(
        max_length=20, choices=ProcessingStatus.choices, default=ProcessingStatus.PENDING, db_index=True
    )
    processed_at = models.DateTimeField(null=True, blank=True)
    error_message = models.TextField(null=True, blank=True)
    voted_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        db_table = "votes"
        ordering = ["-voted_at"]
        indexes = [
            models.Index(fields=["left_model", "voted_at"], name="newest_votes_of_left_model"),
            models.Index(fields=["right_model", "voted_at"], name="newest_votes_of_right_model"),
            models.Index(fields=["network", "voted_at"], name="votes_of_a_network"),
        ]

    def __str__(self) -> str:
        return self.vote_id
