"""What a visitor adds to a vote of theirs: reasons, a sentence, and how far each side came."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from arena.models.battles import Battle

WHY_LENGTH = 500
WHOLE_WAY = 100


class Feedback(models.Model):
    """Given after the vote, with the names known: it counts in no ranking. Replaced as a whole by its visitor."""

    battle = models.OneToOneField(
        Battle, to_field="battle_id", db_column="battle_id", on_delete=models.PROTECT, related_name="feedback"
    )
    reasons = models.JSONField(
        default=dict, blank=True, help_text="Respect -> which side was better in it; respects are the kind's."
    )
    why = models.CharField(max_length=WHY_LENGTH, blank=True, help_text="The visitor's own words; not public.")
    left_progress = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="How much of the task the left side did, 0 to 100, as the visitor judges it."
    )
    right_progress = models.PositiveSmallIntegerField(null=True, blank=True, help_text="The same of the right side.")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "feedback"
        ordering = ["-created_at"]
        verbose_name_plural = "feedback"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(left_progress=None) | models.Q(left_progress__lte=WHOLE_WAY),
                name="left_progress_is_at_most_100",
            ),
            models.CheckConstraint(
                condition=models.Q(right_progress=None) | models.Q(right_progress__lte=WHOLE_WAY),
                name="right_progress_is_at_most_100",
            ),
        ]

    def __str__(self) -> str:
        return f"feedback on {self.battle_id}"
