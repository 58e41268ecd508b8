"""Scenes beside those of the catalogue's files: composed by moderators of known things, as data over a known room.

They may come and go while processes run. What was ever published stays known, because recordings are verified in it.
`simulation.scene_plans` reads them, `simulation.worlds.composition` builds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from simulation.catalogue_rows import Row

if TYPE_CHECKING:
    from simulation.catalogue import Scene

Area = tuple[float, float, float, float]
"""x lowest, x highest, y lowest, y highest of centres [m, base frame]."""


@dataclass(frozen=True)
class PlacedThing:
    """`like`: a thing of the library. It starts somewhere in `area`, or, if given, `at` x, y [m] and turned [rad].

    `colour`: red, green, blue, 0..1; None is the library's.
    """

    like: str
    area: Area
    colour: tuple[float, float, float] | None = None
    at: tuple[float, float] | None = None
    turned: float = 0.0


@dataclass(frozen=True)
class Draw:
    """Of these things a seed takes so many, from `least` to `most`, and leaves the others out."""

    of: tuple[str, ...]
    least: int
    most: int


@dataclass(frozen=True)
class Plan:
    """What a scene is made of. `room`: the table and what always stands on it (simulation.scene_plans.ROOMS)."""

    id: str
    room: str
    things: Mapping[str, PlacedThing]
    draws: tuple[Draw, ...]


@dataclass(frozen=True, eq=False)
class Composed:
    """A composed scene. `row`: its entry, which knows its lines. Visitors may choose it from `since` (None: never) to
    `until` (None: with no end)."""

    scene: Scene
    plan: Plan
    row: Row
    since: datetime | None = None
    until: datetime | None = None

    @property
    def offered(self) -> bool:
        """Whether visitors may choose it now."""
        return self.is_published and self.since is not None and self.since <= datetime.now(UTC)

    @property
    def is_published(self) -> bool:
        """Whether visitors may choose it now, or from `since` on."""
        return self.since is not None and (self.until is None or datetime.now(UTC) < self.until)


_known: tuple[Composed, ...] = ()
_draft: ContextVar[Composed | None] = ContextVar("draft of a scene", default=None)


def replace(scenes: Iterable[Composed]) -> None:
    """From now on these are all that there are."""
    global _known
    _known = tuple(scenes)


def every() -> tuple[Composed, ...]:
    """Those that were ever published, and the draft that is being tried."""
    draft = _draft.get()
    return (*_known, draft) if draft else _known


def find(scene_id: str) -> Composed | None:
    return next((each for each in every() if each.scene.id == scene_id), None)


@contextmanager
def trying(draft: Composed) -> Iterator[None]:
    """With a scene that is not published. For this thread alone."""
    token = _draft.set(draft)
    try:
        yield
    finally:
        _draft.reset(token)
