"""The registry of policies: who may meet in a battle."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.core.validators import RegexValidator
from django.db import models, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from simulation.contracts import Embodiment

REASON_LENGTH = 500
HOST_SILENT_S = 20.0  # a worker that has announced nothing for so long hosts nothing

# Ids stand in exported tables, where a spreadsheet would take a cell that begins otherwise for a formula.
BEGINS_PLAINLY = RegexValidator(r"\A[A-Za-z0-9]", "An id begins with a letter or a digit.")


class PolicyStatus(models.TextChoices):
    ACTIVE = "active", "active"
    RETIRED = "retired", "retired"
    UNAVAILABLE = "unavailable", "unavailable"


class PolicyQuerySet(models.QuerySet["Policy"]):
    def contestants(self) -> PolicyQuerySet:
        """Policies that may be drawn for a blind battle: active and not a reference."""
        return self.filter(status=PolicyStatus.ACTIVE, reference=False)

    def made_for(self, robot_id: str, scene_id: str) -> PolicyQuerySet:
        """Policies whose card fits the robot in the scene. A row without a card declares nothing: it is compared when
        a worker opens its folder.
        """
        worlds = PolicyWorld.objects.filter(policy=OuterRef("pk"), robot_id=robot_id, scene_id=scene_id)
        return self.filter(Exists(worlds) | models.Q(card={}))

    def playable(self) -> PolicyQuerySet:
        """Without those that no worker hosts. While no worker announces anything, nothing is known and all stay: what
        is sent meanwhile waits for one. So does one that was entered after some worker's latest word: that worker may
        not know of it yet.
        """
        latest = Hosting.objects.live().order_by().values("worker").annotate(said=models.Max("seen_at"))
        words = [worker["said"] for worker in latest]
        if not words:
            return self
        rows = Hosting.objects.filter(policy=OuterRef("pk"))
        unnoticed = models.Q(created_at__gt=min(words))
        return self.filter(Exists(rows.able()) | (unnoticed & ~Exists(rows.live())))


class Policy(models.Model):
    """One robot policy. Its public name in the API is *model*; the key is `model_id`.

    `adapter` says how it is opened: a family of `policies.registry`, or a reference adapter of `robots.players`.
    `pairing_weight` is written by rankings and only read by the pairing in arena.
    """

    id = models.SlugField(primary_key=True, max_length=255, validators=[BEGINS_PLAINLY])
    name = models.CharField(max_length=255)
    description = models.TextField(blank=True)
    organization = models.CharField(max_length=255, blank=True)
    license = models.CharField(max_length=50, blank=True)
    family = models.CharField(max_length=50, db_index=True)
    adapter = models.CharField(max_length=50)
    model_path = models.CharField(
        max_length=500, blank=True, help_text="Folder with policy.json; empty for references."
    )
    revision = models.CharField(max_length=64, blank=True, help_text="Hash of the weights.")
    provenance = models.TextField(blank=True, help_text="Who trained it, on what.")
    training_data = models.TextField(blank=True, help_text="What it learned from.")
    source = models.CharField(max_length=500, blank=True, help_text="Where weights and paper are to be found.")
    parameters = models.BigIntegerField(null=True, blank=True, help_text="Numbers in the network.")
    weights_bytes = models.BigIntegerField(null=True, blank=True, help_text="Bytes of the weights as they are stored.")
    statistics_key = models.CharField(
        max_length=100,
        blank=True,
        help_text="The data set in whose units it acts; empty takes the folder's own, or the family's usual one.",
    )
    card = models.JSONField(default=dict, blank=True, help_text="The policy.json as read when it was registered.")
    status = models.CharField(max_length=20, choices=PolicyStatus.choices, default=PolicyStatus.ACTIVE, db_index=True)
    status_reason = models.CharField(
        max_length=REASON_LENGTH, blank=True, help_text="Why it is unavailable or retired."
    )
    reference = models.BooleanField(default=False, help_text="For tests and tooling; never drawn for a blind battle.")
    pairing_weight = models.FloatField(default=1.0)
    created_at = models.DateTimeField(default=timezone.now)

    objects = PolicyQuerySet.as_manager()

    class Meta:
        db_table = "models"
        ordering = ["id"]
        verbose_name_plural = "policies"

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.status == PolicyStatus.ACTIVE:
            self.status_reason = ""
        super().save(*args, **kwargs)

    def activate(self) -> None:
        """Let it be drawn again, and let every worker that could not play it try once more."""
        self.hostings.update(trouble="")
        self._set_status(PolicyStatus.ACTIVE, "")

    def retire(self, reason: str) -> None:
        """Draw it no more. Battles that it is in go on; its votes and its place stay."""
        self._set_status(PolicyStatus.RETIRED, reason)

    def mark_unavailable(self, reason: str) -> None:
        """It cannot play at present; the reason says what would have to be put right."""
        self._set_status(PolicyStatus.UNAVAILABLE, reason)

    def keep_worlds(self, worlds: Iterable[Embodiment]) -> None:
        """Note which robots and scenes the card fits, where the pairing can ask without opening anything."""
        fits = {(world.robot_id, world.scene_id) for world in worlds}
        if fits == set(self.worlds.values_list("robot_id", "scene_id")):
            return
        with transaction.atomic():
            self.worlds.all().delete()
            PolicyWorld.objects.bulk_create(
                PolicyWorld(policy=self, robot_id=robot_id, scene_id=scene_id) for robot_id, scene_id in sorted(fits)
            )

    def _set_status(self, status: PolicyStatus, reason: str) -> None:
        self.status = status
        self.status_reason = reason[:REASON_LENGTH]
        self.save(update_fields=["status", "status_reason"])


class PolicyWorld(models.Model):
    """A robot in a scene that a policy's card fits."""

    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="worlds")
    robot_id = models.CharField(max_length=50)
    scene_id = models.CharField(max_length=50)

    class Meta:
        db_table = "policy_worlds"
        constraints = [
            models.UniqueConstraint(fields=["policy", "robot_id", "scene_id"], name="one_row_per_policy_and_world")
        ]

    def __str__(self) -> str:
        return f"{self.policy_id} fits {self.robot_id} in {self.scene_id}"


def live_between() -> tuple[datetime, datetime]:
    """When a worker that lives was last seen; later ones than now: the clock was set back."""
    now, silent = timezone.now(), timedelta(seconds=HOST_SILENT_S)
    return now - silent, now + silent


class HostingQuerySet(models.QuerySet["Hosting"]):
    def live(self) -> HostingQuerySet:
        return self.filter(seen_at__range=live_between())

    def able(self) -> HostingQuerySet:
        """Of live workers that can play the policy."""
        return self.live().filter(trouble="")


class Hosting(models.Model):
    """A worker's word that it plays a policy's rollouts, renewed every few seconds as long as it lives."""

    worker = models.CharField(max_length=200)
    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="hostings")
    trouble = models.CharField(max_length=REASON_LENGTH, blank=True, help_text="Why it cannot play it; empty: it can.")
    device = models.CharField(max_length=50, blank=True)
    slots = models.PositiveIntegerField(default=1, help_text="Rollouts that the worker plays side by side.")
    render_profile = models.CharField(max_length=120, blank=True, help_text="What renders there; empty: not said yet.")
    seen_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = HostingQuerySet.as_manager()

    class Meta:
        db_table = "hostings"
        ordering = ["policy", "worker"]
        constraints = [models.UniqueConstraint(fields=["worker", "policy"], name="one_hosting_per_worker_and_policy")]

    def __str__(self) -> str:
        return f"{self.policy_id} on {self.worker}"


def known_hosts() -> bool:
    """Whether any worker announces what it hosts."""
    return Hosting.objects.live().exists()


class PairChance(models.Model):
    """How often two contestants should meet, written by rankings every hour and only read by the pairing in arena.

    `one` is the smaller id. The chances of all contestants' pairs sum to 1 when they are written.
    """

    one = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="+")
    chance = models.FloatField()

    class Meta:
        db_table = "pair_chances"
        constraints = [models.UniqueConstraint(fields=["one", "other"], name="one_chance_per_pair")]

    def __str__(self) -> str:
        return f"{self.one_id} - {self.other_id}: {self.chance:.4f}"
