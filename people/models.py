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


class Token(models.Model):
    """A key for programs that act for a user. The key itself is shown once and not kept; `digest` is its SHA-256, and
    `hint` how it begins. `scopes`: of people.tokens.SCOPES."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=LONGEST_NAME)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField("begins with", max_length=12, editable=False)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        db_table = "api_tokens"
        ordering = ("-created_at",)
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}...)"
