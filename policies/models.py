"""The registry of policies: who may meet in a battle."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.utils import timezone

REASON_LENGTH = 500


class PolicyStatus(models.TextChoices):
    ACTIVE = "active", "active"
    RETIRED = "retired", "retired"
    UNAVAILABLE = "unavailable", "unavailable"


class PolicyQuerySet(models.QuerySet["Policy"]):
    def contestants(self) -> PolicyQuerySet:
        """Policies that may be drawn for a blind battle: active and not a reference."""
        return self.filter(status=PolicyStatus.ACTIVE, reference=False)


class Policy(models.Model):
    """One robot policy. Its public name in the API is *model*; the key is `model_id`.

    `adapter` says how it is opened: a family of `policies.registry`, or a reference adapter of `arena.players`.
    `pairing_weight` is written by rankings and only read by the pairing in arena.
    """

    id = models.SlugField(primary_key=True, max_length=255)
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
        """Let it be drawn again."""
        self._set_status(PolicyStatus.ACTIVE, "")

    def retire(self, reason: str) -> None:
        """Draw it no more. Battles that it is in go on; its votes and its place stay."""
        self._set_status(PolicyStatus.RETIRED, reason)

    def mark_unavailable(self, reason: str) -> None:
        """It cannot play at present; the reason says what would have to be put right."""
        self._set_status(PolicyStatus.UNAVAILABLE, reason)

    def _set_status(self, status: PolicyStatus, reason: str) -> None:
        self.status = status
        self.status_reason = reason[:REASON_LENGTH]
        self.save(update_fields=["status", "status_reason"])
