"""The gallery of voted battles: a row for each, with what it is searched and filtered by."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext

from arena.models.choices import BattleStatus
from arena.models.contestants import Contestant
from arena.models.votes import Vote


class GalleryQuerySet(models.QuerySet["GalleryEntry"]):
    def public(self) -> GalleryQuerySet:
        """What everybody may see. The one place that decides it: for lists, shared pages, previews and embeds."""
        return self.filter(
            vote__battle__status=BattleStatus.VOTED, vote__battle__spoiled=False, vote__battle__hidden_at=None
        )

    def to_be_shown(self) -> GalleryQuerySet:
        return self.select_related("vote__battle", "left_model", "right_model")


class GalleryEntry(models.Model):
    """A voted battle in the gallery. `arena.gallery` makes it with the vote; it can be made again from the battle.

    The episodes are those of the last turn that both sides completed.
    """

    vote = models.OneToOneField(
        Vote, db_column="vote", primary_key=True, on_delete=models.CASCADE, related_name="gallery_entry"
    )
    kind = models.CharField(max_length=20)
    instruction = models.TextField(blank=True, help_text="Empty while a moderator hides it.")
    task = models.CharField(max_length=50, blank=True)
    left_model = models.ForeignKey(Contestant, on_delete=models.PROTECT, related_name="+", db_index=False)
    right_model = models.ForeignKey(Contestant, on_delete=models.PROTECT, related_name="+", db_index=False)
    left_episode = models.CharField(max_length=50)
    right_episode = models.CharField(max_length=50)
    disagrees = models.BooleanField(default=False, help_text="The judge saw one side succeed, the voter the other.")
    near_miss = models.BooleanField(default=False, help_text="A side came close and did not succeed.")
    upset = models.BooleanField(
        null=True, help_text="The side with the lower rating won; empty until ratings are published after the vote."
    )
    views = models.PositiveIntegerField(default=0)

    objects = GalleryQuerySet.as_manager()

    class Meta:
        db_table = "gallery"
        ordering = ["-vote_id"]
        indexes = [
            models.Index(fields=["task", "-vote"], name="gallery_of_a_task"),
            models.Index(fields=["left_model", "-vote"], name="gallery_of_a_left_model"),
            models.Index(fields=["right_model", "-vote"], name="gallery_of_a_right_model"),
            models.Index(fields=["-views", "-vote"], name="gallery_by_views"),
            models.Index(fields=["-vote"], name="gallery_of_disagreement", condition=Q(disagrees=True)),
            models.Index(fields=["-vote"], name="gallery_of_near_misses", condition=Q(near_miss=True)),
            models.Index(fields=["-vote"], name="gallery_of_upsets", condition=Q(upset=True)),
            models.Index(fields=["vote"], name="gallery_to_be_rated", condition=Q(upset=None)),
        ]

    def __str__(self) -> str:
        return str(self.vote_id)

    @property
    def public_instruction(self) -> str:
        """The instruction as anybody may read it."""
        return self.instruction or gettext("[hidden by a moderator]")
