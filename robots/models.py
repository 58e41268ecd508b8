"""The tables that robots add to those of the core."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from arena.models import Attempt, Battle


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


class FirstState(models.Model):
    """What a battle's first turn begins with, as viewers show it before the vote. A worker makes it: the web process
    loads no physics. It follows from the battle's seed alone."""

    battle = models.OneToOneField(
        Battle, to_field="battle_id", db_column="battle_id", primary_key=True, on_delete=models.CASCADE
    )
    row = models.BinaryField(default=bytes, help_text="A packed view row (simulation.view_format); empty until made.")
    made_at = models.DateTimeField(null=True, blank=True)
    asked_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "robot_first_states"
        indexes = [
            models.Index(fields=["asked_at"], condition=models.Q(made_at=None), name="first_states_to_be_made"),
        ]

    def __str__(self) -> str:
        return str(self.battle_id)
