"""The registry's columns that only robot policies have, beside those of every contestant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import models, transaction

from arena.models import Contestant
from policies.measured import counts
from proportions import Success, success_rate
from simulation.contracts import Embodiment

ROBOTS = "robots"
"""The kind of robot policies."""


class Policy(Contestant):
    """One robot policy. `adapter` says how it is opened: a family of `policies.registry`, or a reference adapter of
    `robots.players`.
    """

    adapter = models.CharField(max_length=50)
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
    measured_successes = models.PositiveIntegerField(default=0, db_default=0, editable=False)
    measured_episodes = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    class Meta:
        db_table = "robot_policies"
        verbose_name_plural = "policies"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """What the card counts is stored beside it, since lists of policies read no cards."""
        self.kind = ROBOTS
        if "card" not in self.get_deferred_fields():
            self.measured_successes, self.measured_episodes = counts(self.card)
            written = kwargs.get("update_fields")
            if written is not None and "card" in written:
                kwargs["update_fields"] = {*written, "measured_successes", "measured_episodes"}
        super().save(*args, **kwargs)

    @property
    def success(self) -> Success | None:
        """Over all tasks that its card counts, with the 95 % Wilson interval; None when it was not measured."""
        measured = self.measured_episodes
        return success_rate(self.measured_successes, measured) if measured else None

    def keep_worlds(self, worlds: Iterable[Embodiment]) -> None:
        """Store in which robots and scenes, of those that the card fits, the policy is drawn, so that pairing needs to
        open no folder. A card that tells the scenes of its training (`training.scenes`) is not drawn in others, of
        whose things it knows nothing; scenes of moderators are as new to one as to another.
        """
        told = (self.card.get("training") or {}).get("scenes")
        known = [world for world in worlds if not told or world.composed or world.scene_id in told]
        fits = {(world.robot_id, world.scene_id) for world in known}
        if fits == set(self.worlds.values_list("robot_id", "scene_id")):
            return
        with transaction.atomic():
            self.worlds.all().delete()
            PolicyWorld.objects.bulk_create(
                PolicyWorld(policy=self, robot_id=robot_id, scene_id=scene_id) for robot_id, scene_id in sorted(fits)
            )


class PolicyWorld(models.Model):
    """A robot in a scene in which a policy is drawn."""

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
