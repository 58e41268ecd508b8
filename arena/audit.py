"""What staff do to rows: an entry in the row's history, and one in the audit log, which other packages keep."""

from __future__ import annotations

from enum import StrEnum

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db.models import Model

from arena.errors import ReasonMissing
from arena.signals import moderated

REASON_LENGTH = 500


class Act(StrEnum):
    """The words of `arena.signals.moderated`."""

    HIDE_BATTLE = "hide_battle"
    SHOW_BATTLE = "show_battle"
    HIDE_INSTRUCTION = "hide_instruction"
    SHOW_INSTRUCTION = "show_instruction"
    HIDE_COMMENT = "hide_comment"
    SHOW_COMMENT = "show_comment"
    DISMISS_REPORT = "dismiss_report"
    RETIRE = "retire"
    ACTIVATE = "activate"
    PUBLISH_TASK = "publish_task"
    WITHDRAW_TASK = "withdraw_task"
    APPROVE_SUBMISSION = "approve_submission"
    REFUSE_SUBMISSION = "refuse_submission"
    PUBLISH_SCENE = "publish_scene"
    WITHDRAW_SCENE = "withdraw_scene"


def clean_reason(text: str) -> str:
    """The reason as it is kept. Raises ReasonMissing if it is empty, or has NUL, which PostgreSQL refuses."""
    reason = text.strip()
    if not reason or "\0" in reason:
        raise ReasonMissing
    return reason[:REASON_LENGTH]


def note(act: Act, row: Model, moderator: User, reason: str) -> None:
    """Enter an act in the row's history and in the audit log. Call it in the transaction of the change."""
    words = act.replace("_", " ").capitalize()
    told = f"{words}: {reason}" if reason else words
    LogEntry.objects.log_actions(moderator.pk, [row], CHANGE, told, single_object=True)
    tell(act, str(row), reason, moderator)


def tell(act: Act, subject: str, reason: str, moderator: User | None) -> None:
    """Enter an act in the audit log alone; None: a command's. Call it in the transaction of the change."""
    moderated.send(Act, action=act.value, subject=subject, reason=reason, moderator=moderator)
