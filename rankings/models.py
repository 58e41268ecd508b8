"""What the hourly aggregation writes. Tables and columns are named as in the requirements V-DB-05..07."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class BoardRow(models.Model):
    """One policy's place on one board.

    `elo_score` and `elo_ci` come from the Bradley-Terry fit (Elo scale, mean 1500; half-width of the 95 % interval);
    `elo_sequential` is the classic Elo in order of the votes, kept beside it (decision 4 of the design).
    """

    elo_score = models.IntegerField(default=1500, db_index=True)
    elo_ci = models.FloatField(default=200.0)
    elo_sequential = models.IntegerField(default=1500)
    vote_count = models.PositiveIntegerField(default=0, db_index=True)
    win_count = models.PositiveIntegerField(default=0)
    loss_count = models.PositiveIntegerField(default=0)
    tie_count = models.PositiveIntegerField(default=0)
    both_bad_count = models.PositiveIntegerField(default=0)
    win_rate = models.FloatField(default=0.0)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True


class ModelStatsByRobot(BoardRow):
    model = models.ForeignKey(
        "policies.Policy", db_column="model_id", on_delete=models.PROTECT, related_name="stats_by_robot"
    )
    robot_id = models.CharField(max_length=50, db_index=True)

    class Meta:
        db_table = "model_stats_by_robot"
        constraints = [models.UniqueConstraint(fields=["model", "robot_id"], name="one_row_per_model_and_robot")]

    def __str__(self) -> str:
        return f"{self.model_id} on {self.robot_id}"


class ModelStatsTotal(BoardRow):
    model = models.OneToOneField(
        "policies.Policy", db_column="model_id", on_delete=models.PROTECT, related_name="stats_total"
    )
    organization = models.CharField(max_length=255, blank=True)
    license = models.CharField(max_length=50, blank=True)

    class Meta:
        db_table = "model_stats_total"

    def __str__(self) -> str:
        return self.model_id


class WorkerStatus(models.Model):
    """What a worker did last. The aggregation locks its row, so that two runs at once take turns."""

    worker_name = models.CharField(max_length=100, unique=True)
    last_run_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=50, blank=True)
    votes_processed = models.PositiveIntegerField(default=0)
    error_message = models.CharField(max_length=1000, null=True, blank=True)

    class Meta:
        db_table = "worker_status"
        verbose_name_plural = "worker status"
        permissions = [("run_aggregation", "Can run the aggregation now")]

    def __str__(self) -> str:
        return self.worker_name
