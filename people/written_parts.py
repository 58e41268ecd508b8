"""What a visitor wrote about battles: feedback on own ones, comments on shared ones, and reports to moderators."""

from __future__ import annotations

from collections.abc import Iterator

from arena.models import Feedback
from community.models import Comment, Report
from community.reports import reporter_of
from people.own_data import Owner, Part, Row


def export_feedback(owner: Owner) -> Iterator[Row]:
    if not owner.visitor:
        return
    for given in Feedback.objects.filter(battle__session__user_id=owner.visitor).order_by("pk").iterator():
        yield {
            "battle_id": given.battle_id,
            "reasons": given.reasons,
            "why": given.why,
            "progress": {"left": given.left_progress, "right": given.right_progress},
            "updated_at": given.updated_at,
        }


def forget_feedback(owner: Owner, pseudonym: str) -> None:
    if owner.visitor:
        Feedback.objects.filter(battle__session__user_id=owner.visitor).delete()


def export_comments(owner: Owner) -> Iterator[Row]:
    if owner.user is not None:
        columns = ("battle_id", "text", "state", "created_at")
        yield from Comment.objects.filter(author=owner.user).order_by("pk").values(*columns).iterator()


def forget_comments(owner: Owner, pseudonym: str) -> None:
    if owner.user is not None:
        Comment.objects.filter(author=owner.user).delete()


def export_reports(owner: Owner) -> Iterator[Row]:
    columns = ("what", "battle_id", "reason", "text", "state", "created_at")
    yield from Report.objects.filter(reporter=reporter_of(owner.visitor)).order_by("pk").values(*columns).iterator()


def forget_reports(owner: Owner, pseudonym: str) -> None:
    """Moderators still see what was reported, but neither by whom nor in which words."""
    own = Report.objects.filter(reporter=reporter_of(owner.visitor))
    own.update(reporter=reporter_of(pseudonym), text="")


PARTS = (
    Part("feedback", export_feedback, forget_feedback),
    Part("comments", export_comments, forget_comments),
    Part("reports", export_reports, forget_reports),
)
