"""The registry of contestants of every kind, the workers that host them, and how often pairs should meet."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Self, TypeVar

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils import timezone

REASON_LENGTH = 500
FOLDER_TROUBLE, MEMORY_TROUBLE = "folder: ", "memory: "
"""Prefixes of reasons that seeding and workers record and take back. A moderator's reason stays."""
HOST_SILENT_S = 20.0  # a worker that has announced nothing for so long hosts nothing

# Ids appear in exported tables, where a spreadsheet could take another first character for a formula.
BEGINS_PLAINLY = RegexValidator(r"\A[A-Za-z0-9]", "An id begins with a letter or a digit.")


class ContestantStatus(models.TextChoices):
    ACTIVE = "active", "active"
    RETIRED = "retired", "retired"
    UNAVAILABLE = "unavailable", "unavailable"


Row = TypeVar("Row", bound="Contestant")


class ContestantQuerySet(models.QuerySet[Row]):
    """Rows of the core, or of a kind's table with more columns."""

    def contestants(self) -> Self:
        """Those that may be drawn for a blind battle: active and not a reference."""
        return self.filter(status=ContestantStatus.ACTIVE, reference=False)

    def playable(self) -> Self:
        """Those that a worker hosts, or that one may soon host: all while no worker announces anything, and those
        registered since some live worker's last announcement. Their attempts wait in the queue. One query with them.
        """
        live = Hosting.objects.live().order_by()
        newer = live.filter(worker=OuterRef("worker"), seen_at__gt=OuterRef("seen_at"))
        announced_before = live.filter(~Exists(newer), seen_at__lt=OuterRef("created_at"))
        rows = Hosting.objects.filter(contestant=OuterRef("pk"))
        registered_since = Exists(announced_before) & ~Exists(rows.live())
        return self.filter(~Exists(live) | Exists(rows.able()) | registered_since)


class Contestant(models.Model):
    """Whatever can be drawn for a battle. The public API calls it *model*, and its key `model_id`.

    A kind keeps further columns in a table of its own. The rankings write `pairing_weight`, and `arena.pairing` reads
    it.
    """

    id = models.SlugField(primary_key=True, max_length=255, validators=[BEGINS_PLAINLY])
    kind = models.CharField(max_length=20, db_index=True, editable=False, help_text="As `arena.kinds` knows it.")
    name = models.CharField(max_length=255)
    description = models.TextField(blank=True)
    organization = models.CharField(max_length=255, blank=True)
    license = models.CharField(max_length=50, blank=True)
    family = models.CharField(max_length=50, db_index=True)
    model_path = models.CharField(max_length=500, blank=True, help_text="Folder of its weights; empty: it has none.")
    revision = models.CharField(max_length=64, blank=True, help_text="Hash of the weights.")
    provenance = models.TextField(blank=True, help_text="Who trained it, on what.")
    status = models.CharField(
        max_length=20, choices=ContestantStatus.choices, default=ContestantStatus.ACTIVE, db_index=True
    )
    status_reason = models.CharField(
        max_length=REASON_LENGTH, blank=True, help_text="Why it is unavailable or retired."
    )
    reference = models.BooleanField(default=False, help_text="For tests and tooling; never drawn for a blind battle.")
    pairing_weight = models.FloatField(default=1.0)
    created_at = models.DateTimeField(default=timezone.now)

    objects = ContestantQuerySet.as_manager()

    class Meta:
        db_table = "models"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.status == ContestantStatus.ACTIVE:
            self.status_reason = ""
        super().save(*args, **kwargs)

    def activate(self) -> None:
        """Draw it again, and have every worker that could not play it try once more."""
        self.hostings.update(trouble="")
        self._set_status(ContestantStatus.ACTIVE, "")

    def retire(self, reason: str) -> None:
        """Stop drawing it. Its battles go on; its votes and its place in the ranking stay."""
        self._set_status(ContestantStatus.RETIRED, reason)

    def mark_unavailable(self, reason: str) -> None:
        """Stop drawing it while it cannot play. The reason says what has to be fixed."""
        self._set_status(ContestantStatus.UNAVAILABLE, reason)

    def _set_status(self, status: ContestantStatus, reason: str) -> None:
        self.status = status
        self.status_reason = reason[:REASON_LENGTH]
        self.save(update_fields=["status", "status_reason"])


def live_between(silence_s: float = HOST_SILENT_S) -> tuple[datetime, datetime]:
    """The moments between which a live worker was last seen. A later one was written before the clock was set back."""
    now, silence = timezone.now(), timedelta(seconds=silence_s)
    return now - silence, now + silence


class HostingQuerySet(models.QuerySet["Hosting"]):
    def live(self) -> HostingQuerySet:
        return self.filter(seen_at__range=live_between())

    def able(self) -> HostingQuerySet:
        """Rows of live workers that can play the contestant."""
        return self.live().filter(trouble="")


class Hosting(models.Model):
    """A worker's announcement that it plays a contestant's attempts, renewed every few seconds while it lives."""

    worker = models.CharField(max_length=200)
    contestant = models.ForeignKey(Contestant, on_delete=models.CASCADE, related_name="hostings")
    trouble = models.CharField(max_length=REASON_LENGTH, blank=True, help_text="Why it cannot play it; empty: it can.")
    device = models.CharField(max_length=50, blank=True)
    slots = models.PositiveIntegerField(default=1, help_text="Attempts that the worker plays side by side.")
    render_profile = models.CharField(max_length=120, blank=True, help_text="What renders there; empty: not said yet.")
    seen_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = HostingQuerySet.as_manager()

    class Meta:
        db_table = "hostings"
        ordering = ["contestant", "worker"]
        constraints = [
            models.UniqueConstraint(fields=["worker", "contestant"], name="one_hosting_per_worker_and_contestant")
        ]

    def __str__(self) -> str:
        return f"{self.contestant_id} on {self.worker}"


class PairChance(models.Model):
    """How often two contestants of a pool should meet. The rankings write it every hour, and the pairing reads it.

    `pool`: a kind's name for contestants that may meet (`arena.kinds`). `one`: the smaller id. The chances of a pool
    sum to 1 when they are written.
    """

    pool = models.CharField(max_length=150)
    one = models.ForeignKey(Contestant, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(Contestant, on_delete=models.CASCADE, related_name="+")
    chance = models.FloatField()

    class Meta:
        db_table = "pair_chances"
        constraints = [models.UniqueConstraint(fields=["pool", "one", "other"], name="one_chance_per_pool_and_pair")]

    def __str__(self) -> str:
        return f"{self.pool}: {self.one_id} - {self.other_id}: {self.chance:.4f}"
