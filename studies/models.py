"""A study of two policies, what its episodes came to, and its report."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy

from arena.ids import new_id


def _study_id() -> str:
    return new_id("study")


class Study(models.Model):
    """`study_id` is its address, which cannot be guessed: whoever knows it may read. The owner alone may change.

    `leased_by` is the process that plays a part of it now, until `leased_until`; `sent_at` is when the message for the
    next part was sent. `render_profile`: what renders for both sides, chosen by the first worker. `told`: the answer
    of `robots.studies.comparing.compared`.
    """

    class State(models.TextChoices):
        WAITING = "waiting", gettext_lazy("waiting")
        PLAYING = "playing", gettext_lazy("playing")
        COMPLETED = "completed", gettext_lazy("completed")
        FAILED = "failed", gettext_lazy("failed")
        CANCELLED = "cancelled", gettext_lazy("cancelled")

    OPEN: ClassVar = (State.WAITING, State.PLAYING)

    study_id = models.CharField(max_length=50, unique=True, default=_study_id, editable=False)
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="studies")
    a_id = models.CharField("policy a", max_length=255)
    b_id = models.CharField("policy b", max_length=255)
    a_revision = models.CharField(max_length=64, blank=True)
    b_revision = models.CharField(max_length=64, blank=True)
    robot_id = models.CharField(max_length=50)
    scene_id = models.CharField(max_length=50)
    tasks = models.JSONField(default=list)
    seeds = models.PositiveIntegerField(help_text="Pairs per task at most.")
    first_seed = models.PositiveIntegerField(default=0)
    margin = models.FloatField(default=0.0, help_text="A difference that does not matter; 0: none.")
    play_all = models.BooleanField(default=False, help_text="Also where it is settled before.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING, db_index=True)
    pairs = models.PositiveIntegerField(default=0, help_text="Played by both.")
    error = models.CharField(max_length=500, blank=True)
    told = models.JSONField(default=dict, blank=True)
    render_profile = models.CharField(max_length=200, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    leased_by = models.CharField(max_length=100, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "studies"
        verbose_name_plural = "studies"
        ordering = ("-created_at", "-pk")

    def __str__(self) -> str:
        return f"{self.a_id} and {self.b_id}"

    @property
    def planned(self) -> int:
        return self.seeds * len(self.tasks)

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN


class StudyEpisode(models.Model):
    """What a side did in the case of this number. `outcome`: of `robots.studies.playing.Outcome`."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="episodes")
    number = models.PositiveIntegerField()
    side = models.CharField(max_length=1, choices=[("a", "a"), ("b", "b")])
    outcome = models.JSONField()

    class Meta:
        db_table = "study_episodes"
        ordering = ("number", "side")
        constraints = [
            models.UniqueConstraint(fields=["study", "number", "side"], name="one_episode_per_side_and_case_of_a_study")
        ]

    def __str__(self) -> str:
        return f"{self.number}{self.side} of {self.study_id}"


class StudyReport(models.Model):
    """`page`: the HTML of `robots.studies.report`, by gzip."""

    study = models.OneToOneField(Study, primary_key=True, on_delete=models.CASCADE, related_name="report")
    page = models.BinaryField()

    class Meta:
        db_table = "study_reports"

    def __str__(self) -> str:
        return f"report of {self.study_id}"
