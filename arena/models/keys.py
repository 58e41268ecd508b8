"""Keys of digests, and the lock of admission."""

from __future__ import annotations

from django.db import models


class NetworkKey(models.Model):
    """Keys the digests of networks for 28 days (`arena.visitors.networks`). Shown nowhere, and left out of backups."""

    period = models.PositiveIntegerField(primary_key=True, help_text="Days since 1970, divided by 28.")
    secret = models.CharField(max_length=64, editable=False)

    class Meta:
        db_table = "network_keys"

    def __str__(self) -> str:
        return f"the key of period {self.period}"


class AdmissionLock(models.Model):
    """One row, locked to add a turn to the queue, so that the queue's bounds hold for concurrent callers.

    `revision` grows by one whenever the row is locked to add or send turns. `sent`: the turns sent last, each with the
    revision at which it was sent.
    """

    ONLY, NAMED = 1, 64

    revision = models.PositiveBigIntegerField(default=0)
    sent = models.JSONField(default=list)

    class Meta:
        db_table = "turn_line"

    def __str__(self) -> str:
        return "the queue of turns"
