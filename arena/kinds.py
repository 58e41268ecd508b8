"""The kinds of arena. The core knows contestants of any kind only by what their kind answers here.

A kind is an app: it registers one `Kind` in `AppConfig.ready`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from arena.models import Session


class Place(NamedTuple):
    """What a session is held in, in words of its kind (robots: robot and scene)."""

    setting: str
    scene: str


class Kind(ABC):
    id: ClassVar[str]
    """A word; stands in the database and in addresses."""
    reasons: ClassVar[Mapping[str, Any]] = {}
    """The respects in which a vote may say that a side was better -> how the page calls them."""
    template: ClassVar[str]
    """Its battle page: extends `arena/battle.html` and fills the blocks there."""
    address: ClassVar[str]
    """The address of its battle page, and the name of that URL; with "-detail", of the page of one battle."""

    @abstractmethod
    def choose(self, wanted: Mapping[str, Any]) -> Place:
        """The place that a body names; the kind's usual one where it names none."""

    def page_context(self, place: Place) -> dict[str, Any]:
        """For the template. `suggestions`: instructions to choose from."""
        return {}


_known: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    _known[kind.id] = kind


def every() -> list[Kind]:
    """In the order in which they were registered."""
    return list(_known.values())


def of(held: Session) -> Kind:
    return every()[0]


def place_of(session: Session) -> Place:
    return Place(session.robot_id, session.scene_id)
