"""Reading a composed scene from YAML. docs/worlds.md describes the fields. Needs no physics."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from simulation import catalogue
from simulation.catalogue import Scene, Thing
from simulation.catalogue_rows import (
    CatalogueError,
    Located,
    Row,
    count_of,
    mapping_of,
    placed,
    read_rows,
    refuse,
    rows_of,
    shown,
    text_of,
    texts_of,
)
from simulation.catalogue_tasks import Phrase, phrases_of
from simulation.composed import Area, Composed, Draw, PlacedThing, Plan

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
LONGEST_NAME = 40
MOST_THINGS = 12
REACH: Area = (0.18, 0.42, -0.22, 0.22)
"""Where things may start: what lies outside is beyond the reach of grasps, or out of the policies' picture."""
FIELDS = ("id", "name", "description", "room", "area_m", "things", "draws", "tasks", "suggestions", "free_suggestions")
THING_FIELDS = ("like", "area_m", "at_m", "turned_deg", "colour", "nouns")
DRAW_FIELDS = ("of", "count", "least", "most")


@dataclass(frozen=True)
class Room:
    """`model`: the scene of the catalogue whose robots, cameras, places (`targets`), drawers and tasks it has. `area`:
    where things start unless they say otherwise. `taken`: names of its parts that no thing can have."""

    model: str
    targets: tuple[str, ...]
    area: Area
    taken: tuple[str, ...] = ()
    drawers: tuple[str, ...] = ()
    """Joints, with a region inside each."""


ROOMS: Mapping[str, Room] = {
    "bench": Room("workbench", (), (0.20, 0.39, -0.15, 0.15)),
    "plates": Room("workbench", ("left_plate", "right_plate"), (0.20, 0.39, -0.15, 0.15), ("plate", "plate_well")),
    "cabinet": Room(
        "cabinet",
        ("cabinet", "top_drawer", "bottom_drawer"),
        (0.20, 0.36, -0.18, -0.015),
        ("knob", "drawer_inside"),
        ("top_drawer", "bottom_drawer"),
    ),
}
"""A bare table, one with the workbench's two plates, and one with the cabinet, whose drawers are closed."""


@dataclass(frozen=True)
class LibraryThing:
    nouns: tuple[Phrase, ...]
    hollow: bool


@cache
def library() -> Mapping[str, LibraryThing]:
    """The things that scenes are composed of, by id."""
    rows = read_rows((catalogue.FOLDER / "library.yaml").read_text("utf-8"), "library.yaml")
    return {text_of(row, "id"): LibraryThing(phrases_of(row, "nouns"), bool(row.get("hollow"))) for row in rows}


def read_plan(row: Row) -> Composed:
    """One composed scene. Raises CatalogueError with file and line."""
    try:
        _check_fields(row, FIELDS)
        room = _room(row)
        area = _area(row, "area_m") if "area_m" in row else room.area
        rows = mapping_of(row, "things")
        if not 1 <= len(rows) <= MOST_THINGS:
            refuse(row, "things", f"things: expected 1..{MOST_THINGS} things, got {len(rows)}")
        things = {name: _placed_thing(rows, name, area, room) for name in rows}
        plan = Plan(_name(row, "id"), text_of(row, "room"), things, _draws(row, things))
        return Composed(_scene(row, plan, room), plan, row)
    except CatalogueError as error:
        raise placed(row, error) from None


def _scene(row: Row, plan: Plan, room: Room) -> Scene:
    model = catalogue.scene(room.model)
    targets = {name: model.things[name] for name in room.targets}
    rows = mapping_of(row, "things")
    things = {name: Thing(name, "object", _nouns(rows, name, each)) for name, each in plan.things.items()}
    return Scene(
        id=plan.id,
        name=text_of(row, "name"),
        description=text_of(row, "description"),
        robots=model.robots,
        cameras=model.cameras,
        things={**things, **targets},
        suggestions=texts_of(row, "suggestions") if "suggestions" in row else (),
        free_suggestions=texts_of(row, "free_suggestions") if "free_suggestions" in row else (),
        regions=tuple(
            f"{name}_inside"
            for name in (*room.drawers, *(name for name, each in plan.things.items() if library()[each.like].hollow))
        ),
        joints=room.drawers,
        draws=bool(plan.draws),
    )


def _placed_thing(rows: Row, name: str, area: Area, room: Room) -> PlacedThing:
    _check_name(rows, name, name)
    if name in (*room.targets, *room.taken):
        refuse(rows, name, f"{name}: the room has a part of this name; call the thing otherwise, with like and nouns")
    row = mapping_of(rows, name)
    _check_fields(row, THING_FIELDS, rows, name)
    like = text_of(row, "like") if "like" in row else name
    if like not in library():
        place = (row, "like") if "like" in row else (rows, name)
        refuse(*place, f"unknown thing {like!r}; known: {', '.join(sorted(library()))}")
    if "at_m" in row and "area_m" in row:
        refuse(row, "area_m", f"{name}: expected at_m or area_m, got both")
    at = _at(row) if "at_m" in row else None
    turned = math.radians(_numbers(row, "turned_deg", 1)[0]) if "turned_deg" in row else 0.0
    if turned and at is None:
        refuse(row, "turned_deg", f"{name}: turned_deg goes with at_m; a thing in an area is turned by the seed")
    colour = _colour(row) if "colour" in row else None
    if (colour or like != name) and "nouns" not in row:
        refuse(rows, name, f"{name}: a colour or a name of its own needs nouns, such as [{{text: blue cup}}]")
    return PlacedThing(like, _area(row, "area_m") if "area_m" in row else area, colour, at, turned)


def _nouns(rows: Row, name: str, thing: PlacedThing) -> tuple[Phrase, ...]:
    row = mapping_of(rows, name)
    return phrases_of(row, "nouns") if "nouns" in row else library()[thing.like].nouns


def _draws(row: Row, things: Mapping[str, PlacedThing]) -> tuple[Draw, ...]:
    if "draws" not in row:
        return ()
    found = [_draw(each, things) for each in rows_of(row, "draws")]
    names = [name for each in found for name in each.of]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        refuse(row, "draws", f"draws: {', '.join(twice)} can be in one draw only")
    return tuple(found)


def _draw(row: Row, things: Mapping[str, PlacedThing]) -> Draw:
    _check_fields(row, DRAW_FIELDS)
    names = texts_of(row, "of")
    if unknown := [name for name in names if name not in things]:
        refuse(row, "of", f"of: unknown thing {unknown[0]!r}; the scene has {', '.join(things)}")
    if "count" in row:
        least = most = count_of(row, "count")
    else:
        least, most = count_of(row, "least"), count_of(row, "most")
    if not least <= most <= len(names):
        key = "count" if "count" in row else "most"
        refuse(row, key, f"{key}: expected {least if key == 'most' else 1}..{len(names)}, got {most}")
    return Draw(names, least, most)


def _room(row: Row) -> Room:
    name = text_of(row, "room")
    if name not in ROOMS:
        refuse(row, "room", f"unknown room {name!r}; known: {', '.join(ROOMS)}")
    return ROOMS[name]


def _area(row: Row, key: str) -> Area:
    low_x, high_x, low_y, high_y = _numbers(row, key, 4)
    if low_x > high_x or low_y > high_y:
        refuse(row, key, f"{key}: expected x lowest, x highest, y lowest, y highest, got {shown_list(row[key])}")
    _check_reach(row, key, [(low_x, low_y), (high_x, high_y)])
    return low_x, high_x, low_y, high_y


def _at(row: Row) -> tuple[float, float]:
    x, y = _numbers(row, "at_m", 2)
    _check_reach(row, "at_m", [(x, y)])
    return x, y


def _check_reach(row: Row, key: str, places: list[tuple[float, float]]) -> None:
    if any(not (REACH[0] <= x <= REACH[1] and REACH[2] <= y <= REACH[3]) for x, y in places):
        reach = f"x {REACH[0]}..{REACH[1]}, y {REACH[2]}..{REACH[3]} m"
        refuse(row, key, f"{key}: out of reach: expected {reach}, got {shown_list(row[key])}")


def _colour(row: Row) -> tuple[float, float, float]:
    red, green, blue = _numbers(row, "colour", 3)
    if not all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        refuse(row, "colour", f"colour: expected red, green and blue, each 0..1, got {shown_list(row['colour'])}")
    return red, green, blue


def _numbers(row: Row, key: str, count: int) -> list[float]:
    value = row[key] if isinstance(row[key], list) or count > 1 else [row[key]]
    good = isinstance(value, list) and len(value) == count
    if not good or not all(isinstance(each, int | float) and not isinstance(each, bool) for each in value):
        wanted = "a number" if count == 1 else f"{count} numbers"
        refuse(row, key, f"{key}: expected {wanted}, got {shown_list(row[key])}")
    if not all(map(math.isfinite, value)):
        refuse(row, key, f"{key}: expected finite numbers, got {shown_list(row[key])}")
    return [float(each) for each in value]


def shown_list(value: Any) -> str:
    return str(value)[:80] if isinstance(value, list) else shown(value)


def _name(row: Row, key: str) -> str:
    name = text_of(row, key)
    _check_name(row, key, name)
    return name


def _check_name(row: Row, key: str, name: str) -> None:
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME or name in ("table", "floor", "tool", "any"):
        refuse(row, key, f"{key}: expected at most {LONGEST_NAME} small letters, digits and _, and no reserved word")


def _check_fields(row: Row, known: tuple[str, ...], around: Row | None = None, name: str = "") -> None:
    """Refuse what no field is called: a slip would be ignored otherwise."""
    if unknown := [str(key) for key in row if key not in known]:
        place = (row, unknown[0]) if isinstance(row, Located) and row.line else (around or row, name)
        refuse(*place, f"unknown field {unknown[0]!r}; known: {', '.join(known)}")
