"""What boards there are to choose from: of what visitors are offered, and of all that has votes."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from arena.kinds import Kind
from rankings.publication.published import Published
from rankings.tally.table import Board


def settings_of(kind: Kind, now: Published) -> list[str]:
    offered = kind.places()
    return [each for each in kind.known_places() if each in offered or _has_votes(now, Board(setting=each))]


def scenes_of(kind: Kind, now: Published, setting: str = "") -> list[str]:
    """The scenes of one setting, or of all, each once, in the kind's order."""
    offered, known = kind.places(), kind.known_places()
    places = [(each, scene) for each in known if setting in ("", each) for scene in known[each]]
    return list(
        dict.fromkeys(
            scene for each, scene in places if scene in offered.get(each, ()) or _has_votes(now, Board(each, scene))
        )
    )


def tasks_of(kind: Kind, now: Published, scene: str = "") -> list[str]:
    """The tasks of one scene, or of all, in the kind's order."""
    offered, known = kind.tasks(), kind.known_tasks()
    here = [task for task, each in known.items() if scene in ("", each.scene) or not each.scene]
    return [task for task in here if task in offered or _has_votes(now, Board(task=task))]


def divisions_of(kind: Kind, now: Published, members: Mapping[str, Collection[object]]) -> list[str]:
    """Those with contestants to compare, or with votes. `members`: of each division, who can be shown."""
    return [each for each in kind.divisions if len(members.get(each, ())) > 1 or _has_votes(now, Board(division=each))]


def _has_votes(now: Published, board: Board) -> bool:
    return bool(now.standings.get(board.name))
