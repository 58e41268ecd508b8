"""The table that robots add to those of the core."""

from __future__ import annotations

from django.db import models

from arena.models import Attempt


class Rollout(models.Model):
    """The start of a completed attempt of a robot policy, and how its time was spent [wall ms].

    `store_ms` is the time to store its episode, which comes after the attempt's `duration_ms`.
    """

    attempt = models.OneToOneField(
        Attempt, to_field="episode_id", db_column="episode_id", primary_key=True, on_delete=models.CASCADE
    )
    start_hash = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the state in which it started.")
    render_ms = models.FloatField(null=True, blank=True)
    infer_ms = models.FloatField(null=True, blank=True)
    physics_ms = models.FloatField(null=True, blank=True)
    store_ms = models.FloatField(null=True, blank=True)

    class Meta:
        db_table = "robot_rollouts"

    def __str__(self) -> str:
        return str(self.attempt_id)
