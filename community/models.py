"""Comments on shared battles, and reports to moderators."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone
from django.utils.translation import gettext_lazy

from arena.models import Battle, Turn

LONGEST_COMMENT = 1000
LONGEST_EXPLANATION = 1000


class Comment(models.Model):
    """What a signed-in person wrote about a shared battle. The public sees it once a moderator has approved it."""

    class State(models.TextChoices):
        PENDING = "pending", "waits for a moderator"
        PUBLIC = "public", "public"
        HIDDEN = "hidden", "hidden"

    battle = models.ForeignKey(
        Battle, to_field="battle_id", db_column="battle_id", on_delete=models.CASCADE, related_name="comments"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="comments")
    text = models.TextField(max_length=LONGEST_COMMENT)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING, db_index=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        db_table = "comments"
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"comment {self.pk} on {self.battle_id}"


class ReportQuerySet(QuerySet["Report"]):
    def open(self) -> ReportQuerySet:
        return self.filter(state=Report.State.OPEN)


class Report(models.Model):
    """What somebody finds wrong with a battle, an instruction or a comment that is public.

    `battle` is always given: the one reported, or that of the turn or the comment. `reporter` tells reports of one
    visitor apart, and says nothing else.
    """

    class What(models.TextChoices):
        BATTLE = "battle", "the battle"
        INSTRUCTION = "instruction", "an instruction"
        COMMENT = "comment", "a comment"

    class Reason(models.TextChoices):
        ABUSE = "abuse", gettext_lazy("It insults or threatens somebody")
        PERSONAL = "personal", gettext_lazy("It reveals something private about a person")
        SEXUAL = "sexual", gettext_lazy("It is sexual or violent")
        SPAM = "spam", gettext_lazy("It is advertising or nonsense")
        OTHER = "other", gettext_lazy("Something else")

    class State(models.TextChoices):
        OPEN = "open", "open"
        UPHELD = "upheld", "upheld"
        DISMISSED = "dismissed", "dismissed"

    what = models.CharField(max_length=12, choices=What.choices)
    battle = models.ForeignKey(
        Battle, to_field="battle_id", db_column="battle_id", on_delete=models.CASCADE, related_name="reports"
    )
    turn = models.ForeignKey(Turn, null=True, blank=True, on_delete=models.CASCADE, related_name="reports")
    comment = models.ForeignKey(Comment, null=True, blank=True, on_delete=models.CASCADE, related_name="reports")
    subject = models.CharField(max_length=60, db_index=True, editable=False, help_text="What it is about, in a word.")
    reason = models.CharField(max_length=10, choices=Reason.choices)
    text = models.TextField(max_length=LONGEST_EXPLANATION, blank=True)
    reporter = models.CharField(max_length=24, editable=False, help_text="A keyed digest of visitor or address.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN, db_index=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    resolved_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = ReportQuerySet.as_manager()

    class Meta:
        db_table = "reports"
        ordering = ["-created_at", "-pk"]
        permissions = [("moderate", "Can resolve reports, and publish and hide comments")]
        constraints = [
            models.CheckConstraint(
                condition=Q(what="battle", turn=None, comment=None)
                | Q(what="instruction", turn__isnull=False, comment=None)
                | Q(what="comment", turn=None, comment__isnull=False),
                name="a_report_names_what_it_is_about",
            ),
            models.UniqueConstraint(
                fields=["subject", "reporter"],
                condition=Q(state="open"),
                name="one_open_report_of_a_visitor_about_a_thing",
            ),
        ]

    def __str__(self) -> str:
        return f"report {self.pk} on {self.battle_id}"


def _waiting_first(waits: str) -> tuple[Any, ...]:
    """An order: rows of this state first, the oldest of them first; then the others, newest first."""
    return (
        Case(When(state=waits, then=Value(0)), default=Value(1)),
        Case(When(state=waits, then=F("created_at"))).asc(nulls_last=True),
        F("created_at").desc(),
        F("pk").desc(),
    )


BY_URGENCY, PENDING_FIRST = _waiting_first(Report.State.OPEN), _waiting_first(Comment.State.PENDING)
