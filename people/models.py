"""Accounts of visitors. Staff have none: their users log in to the admin."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

LONGEST_NAME = 40
VISITOR = "visitor-"
"""The user names of visitors begin with it; the rest is random."""


class Account(models.Model):
    """What a visitor's user has beside address and passkeys. `visitor`: the id under which the account's sessions and
    votes are kept, which its cookies hold too."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="account"
    )
    visitor = models.CharField(max_length=50, unique=True, editable=False)
    display_name = models.CharField(max_length=LONGEST_NAME, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "accounts"

    def __str__(self) -> str:
        return self.display_name or f"account {self.pk}"
