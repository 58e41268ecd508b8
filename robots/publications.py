"""What becomes of YAML that a moderator wrote: kept as a draft, published, withdrawn. Alike for tasks and scenes."""

from __future__ import annotations

from datetime import timedelta
from typing import TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from arena.audit import Act, clean_reason, note, tell
from arena.errors import ArenaError
from robots.models import Publication
from simulation.catalogue_rows import CatalogueError, read_rows, text_of

LEAD = timedelta(seconds=15)
"""From a publication to its effect: several times as long as processes take to notice it."""
State = Publication.State
Row = TypeVar("Row", bound=Publication)


class NotPublishable(ArenaError):
    code = "not_publishable"
    status = 409


def id_in(text: str, source: str, longest: int) -> str:
    """What the YAML calls itself; empty if it cannot be read. `source`: what errors would call the text."""
    try:
        return text_of(read_rows(text, source)[0], "id")[:longest]
    except (CatalogueError, IndexError):
        return ""


def keep(row: Publication) -> None:
    """Keep a draft, whatever its faults. Raises NotPublishable for what is no draft any more."""
    with transaction.atomic():
        rows = type(row)._default_manager.select_for_update()
        if row.pk and not rows.filter(pk=row.pk, state=State.DRAFT).exists():
            raise NotPublishable("what is published cannot be changed; withdraw it and write another")
        row.save()


def locked_draft(row: Row) -> Row:
    """The row as it is now, locked until the transaction ends. Raises NotPublishable for what is no draft any more."""
    now = type(row)._default_manager.select_for_update().get(pk=row.pk)
    if now.state != State.DRAFT:
        raise NotPublishable(f"it is {now.state} already")
    return now


def publish(row: Publication, moderator: User | None, act: Act) -> None:
    """From a few seconds on. The caller holds the row's lock, and tells the processes after the commit."""
    row.state, row.since = State.PUBLISHED, timezone.now() + LEAD
    _decide(row, moderator, act, "")


def withdraw(row: Publication, moderator: User | None, act: Act, reason: str) -> None:
    """From a few seconds on. In a transaction of the caller, who tells the processes after the commit.

    Raises NotPublishable, ReasonMissing.
    """
    why = clean_reason(reason)
    now = type(row)._default_manager.select_for_update().get(pk=row.pk)
    if now.state != State.PUBLISHED:
        raise NotPublishable(f"it is {now.state}, not published")
    now.state, now.until = State.WITHDRAWN, timezone.now() + LEAD
    _decide(now, moderator, act, why)


def last_edition(model: type[Publication]) -> int:
    return model._default_manager.aggregate(last=Max("edition"))["last"] or 0


def _decide(row: Publication, moderator: User | None, act: Act, reason: str) -> None:
    row.edition = last_edition(type(row)) + 1
    row.decided_by = moderator
    row.save()
    if moderator is None:
        tell(act, str(row), reason, None)
    else:
        note(act, row, moderator, reason)
