"""Tasks beside those of the catalogue's files, which may come and go while processes run.

A sentence means what it meant when it was said: `as_of` sets the moment, which is the present otherwise. All processes
that know the same additions therefore agree on the goal of a turn, however long it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime

from simulation.catalogue_rows import Row
from simulation.catalogue_tasks import Task


@dataclass(frozen=True, eq=False)
class Addition:
    """`row`: its entry, which has the goal. Sentences may mean it from `since` to `until` (None: with no end); what was
    played is judged by it for ever."""

    task: Task
    row: Row
    since: datetime
    until: datetime | None = None

    def is_meant(self, said_at: datetime) -> bool:
        return self.since <= said_at and (self.until is None or said_at < self.until)


NEVER = datetime.min.replace(tzinfo=UTC)
_known: tuple[Addition, ...] = ()
_said_at: ContextVar[datetime | None] = ContextVar("said_at", default=None)
_drafts: ContextVar[tuple[Addition, ...]] = ContextVar("drafts", default=())


def replace(additions: Iterable[Addition]) -> None:
    """From now on these are all that there are."""
    global _known
    _known = tuple(additions)


def every() -> tuple[Addition, ...]:
    """Those that were ever published, in the order of their publication, and the drafts that are being tried."""
    return (*_known, *_drafts.get())


def meant() -> tuple[Addition, ...]:
    """Those that a sentence may mean at the moment of `as_of`."""
    if not (found := every()):
        return found
    said_at = _said_at.get() or datetime.now(UTC)
    drafts = _drafts.get()
    return tuple(each for each in found if each in drafts or each.is_meant(said_at))


@contextmanager
def as_of(said_at: datetime | None) -> Iterator[None]:
    """Read sentences as at that moment; None: as now. For this thread alone."""
    token = _said_at.set(said_at)
    try:
        yield
    finally:
        _said_at.reset(token)


@contextmanager
def trying(*drafts: Addition) -> Iterator[None]:
    """With tasks that are not published. For this thread alone."""
    token = _drafts.set(drafts)
    try:
        yield
    finally:
        _drafts.reset(token)
