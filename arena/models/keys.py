"""What keys digests, and what admission locks."""

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
    """One row, locked by whoever adds a turn: so the bounds of the line hold however many add one at once."""

    ONLY = 1

    class Meta:
        db_table = "turn_line"

    def __str__(self) -> str:
        return "the line of turns"
