"""Reporting what should not be public, and resolving reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from arena.actions import hiding
from arena.audit import REASON_LENGTH, Act, note
from arena.models import Battle, Turn
from community import comments
from community.models import Comment, Report

What, State = Report.What, Report.State


@dataclass(frozen=True)
class Target:
    """What a report is about: a battle, or one of its turns or comments."""

    battle: Battle
    turn: Turn | None = None
    comment: Comment | None = None

    @property
    def what(self) -> Report.What:
        return What.COMMENT if self.comment else What.INSTRUCTION if self.turn else What.BATTLE

    @property
    def subject(self) -> str:
        """The same for all reports about the same thing."""
        if self.comment is not None:
            return f"comment {self.comment.pk}"
        return self.battle.battle_id if self.turn is None else self.turn.turn_id


class Resolution(StrEnum):
    """What a moderator may do about a report."""

    HIDE_BATTLE = "hide_battle"
    HIDE_INSTRUCTION = "hide_instruction"
    HIDE_COMMENT = "hide_comment"
    DISMISS = "dismiss"


def offered(report: Report) -> list[Resolution]:
    """The resolutions that fit a report, the narrowest first."""
    if report.state != State.OPEN:
        return []
    narrow = {What.INSTRUCTION: [Resolution.HIDE_INSTRUCTION], What.COMMENT: [Resolution.HIDE_COMMENT]}
    broad = [] if report.what == What.COMMENT else [Resolution.HIDE_BATTLE]
    return [*narrow.get(Report.What(report.what), []), *broad, Resolution.DISMISS]


def reporter_of(who: str) -> str:
    """What a report keeps of who made it: a keyed digest of the visitor's id, or of an address."""
    return salted_hmac("community.reporter", who).hexdigest()[:24]


def file(target: Target, reason: str, text: str, reporter: str) -> Report:
    """A report of a visitor. A second one about the same thing changes the open one."""
    about = {"what": target.what, "battle": target.battle, "turn": target.turn, "comment": target.comment}
    said: dict[str, Any] = {**about, "reason": reason, "text": text}
    report, _ = Report.objects.update_or_create(
        subject=target.subject, reporter=reporter, state=State.OPEN, defaults=said
    )
    return report


@transaction.atomic
def resolve(report: Report, resolution: Resolution, moderator: User) -> bool:
    """Do it, and close this report with all others that it settles. Returns False if the report is not open."""
    row = Report.objects.select_for_update(of=("self",)).select_related("battle", "turn", "comment").get(pk=report.pk)
    if resolution not in offered(row):
        return False
    if resolution == Resolution.DISMISS:
        note(Act.DISMISS_REPORT, row, moderator, "")
        return bool(_close(Q(pk=row.pk), State.DISMISSED, moderator))
    _hide(row, resolution, moderator, _reason_of(row))
    return bool(_close(_settled_by(row, resolution), State.UPHELD, moderator))


@transaction.atomic
def hide_comment(comment: Comment, moderator: User) -> bool:
    """Refuse a comment, which closes the reports about it. Returns False if it is hidden already."""
    _close(Q(comment=comment), State.UPHELD, moderator)
    return comments.hide(comment, moderator, "not fit for the site")


def _hide(report: Report, resolution: Resolution, moderator: User, why: str) -> None:
    if resolution == Resolution.HIDE_BATTLE:
        hiding.hide_battle(report.battle, moderator, why)
    elif report.turn is not None:
        hiding.hide_instruction(report.turn, moderator, why)
    elif report.comment is not None:
        comments.hide(report.comment, moderator, why)


def _settled_by(report: Report, resolution: Resolution) -> Q:
    """A hidden battle takes everything in it off the site."""
    if resolution == Resolution.HIDE_BATTLE:
        return Q(battle=report.battle)
    if report.turn is not None:
        return Q(battle=report.battle, turn__instruction=report.turn.instruction)
    return Q(comment=report.comment)


def _close(which: Q, state: Report.State, moderator: User) -> int:
    closed: dict[str, Any] = {"state": state, "resolved_by": moderator, "resolved_at": timezone.now()}
    keys = Report.objects.open().filter(which).values_list("pk", flat=True)
    return Report.objects.filter(pk__in=list(keys)).update(**closed)


def _reason_of(report: Report) -> str:
    said = f": {' '.join(report.text.split())}" if report.text else ""
    return f"reported as {report.reason}{said}"[:REASON_LENGTH]
