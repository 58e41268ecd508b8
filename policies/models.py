"""What the registry has of robot policies beside what it has of every contestant."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from arena.models import Contestant, ContestantQuerySet

ROBOTS = "robots"
"""The kind of contestants that robot policies are."""


class Policy(Contestant):
    """One robot policy. `adapter` says how it is opened: a family of `policies.registry`, or a reference adapter of
    `robots.players`.
    """

    adapter = models.CharField(max_length=50)
    model_path = models.CharField(
        max_length=500, blank=True, help_text="Folder with policy.json; empty for references."
    )
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

    objects: ClassVar[Any] = ContestantQuerySet.as_manager()

    class Meta:
        db_table = "robot_policies"
        verbose_name_plural = "policies"

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.kind = ROBOTS
        super().save(*args, **kwargs)
