"""Robots, scenes and tasks from `catalogue_data/*.yaml`, and the meaning of instructions. Needs no physics."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

from simulation import assets
from simulation.catalogue_rows import (
    CatalogueError,
    Row,
    mapping_of,
    read_as,
    read_rows,
    rows_of,
    text_of,
    texts_of,
)
from simulation.contracts import CameraSpec, Embodiment

FOLDER = Path(__file__).parent / "catalogue_data"
Named = TypeVar("Named")
FILLER = frozenset({"the", "a", "an", "please"})
SENTENCE = re.compile(r"""[a-z0-9\s.,;:!?'"‘’“”…()-]*""")  # what `normalise` reads, and what it may leave out
MOST_FILLINGS = 10_000  # of the slots of one task


@dataclass(frozen=True)
class Phrase:
    """A wording. `train` is False for one that is kept out of the training data."""

    text: str
    train: bool


@dataclass(frozen=True)
class Robot:
    """What processes without physics know of a robot; simulation.worlds.plugins.Robot has the rest.

    `cameras`: those that it carries. `assets`: its folder in `simulation/assets`, or "".
    """

    id: str
    name: str
    description: str
    control_hz: int
    action_space: str
    action: str
    proprioception: str
    longest_chunk: int
    scenes: tuple[str, ...]
    cameras: tuple[CameraSpec, ...] = ()
    assets: str = ""


@dataclass(frozen=True)
class Thing:
    """An object that can be carried (`kind` "object"), or a place for it (`kind` "target")."""

    id: str
    kind: str
    nouns: tuple[Phrase, ...]


@dataclass(frozen=True)
class Scene:
    """`cameras`: those that stand in it. `assets`: its folder in `simulation/assets`, or "".

    `suggestions`: instructions to offer beside the input; mostly sentences with two objects, in which policies
    differ most. `free_suggestions`: some that have no goal.
    """

    id: str
    name: str
    description: str
    robots: tuple[str, ...]
    cameras: tuple[CameraSpec, ...]
    things: Mapping[str, Thing]
    suggestions: tuple[str, ...]
    free_suggestions: tuple[str, ...]
    assets: str = ""


@dataclass(frozen=True)
class Task:
    """A family of instructions with one judged goal. `slots`: every allowed filling of the templates' slots."""

    id: str
    name: str
    description: str
    robot_id: str
    scene_id: str
    templates: tuple[Phrase, ...]
    slots: tuple[Mapping[str, str], ...]
    success_criteria: Mapping[str, Any]
    max_steps: int
    timeout_s: float

    @property
    def instruction_template(self) -> str:
        return self.templates[0].text


@dataclass(frozen=True)
class Instruction:
    """One wording of one task. `train` is False when its template or one of its nouns is kept out of training."""

    text: str
    task_id: str
    slots: Mapping[str, str]
    train: bool


@cache
def robots() -> tuple[Robot, ...]:
    return tuple(robot_from(row) for row in _rows("robots"))


def robot(robot_id: str) -> Robot:
    return _named({row.id: row for row in robots()}, robot_id, "robot")


@cache
def scenes() -> tuple[Scene, ...]:
    return tuple(scene_from(row) for row in _rows("scenes"))


def scene(scene_id: str) -> Scene:
    return _named({row.id: row for row in scenes()}, scene_id, "scene")


def embodiment(robot_id: str, scene_id: str) -> Embodiment:
    """What a policy for this robot in this scene has to fit."""
    arm = robot(robot_id)
    return Embodiment(
        robot_id,
        scene_id,
        arm.action_space,
        arm.control_hz,
        (*scene(scene_id).cameras, *arm.cameras),
        arm.proprioception,
        arm.longest_chunk,
    )


def embodiments() -> list[Embodiment]:
    """Of every robot in each of its scenes."""
    return [embodiment(*world) for world in worlds()]


def worlds() -> list[tuple[str, str]]:
    """(robot, scene) of every world, also of those whose assets are missing."""
    return [(robot.id, scene_id) for robot in robots() for scene_id in robot.scenes]


@cache
def missing_assets(robot_id: str, scene_id: str) -> str:
    """What the world lacks on this machine, and what to run; "" if it lacks nothing. As it was when first asked."""
    folders = [folder for folder in (robot(robot_id).assets, scene(scene_id).assets) if folder]
    return "; ".join(reason for reason in map(assets.missing, folders) if reason)


def lacking() -> dict[str, str]:
    """ "robot/scene" -> what it lacks on this machine."""
    found = {f"{robot_id}/{scene_id}": missing_assets(robot_id, scene_id) for robot_id, scene_id in worlds()}
    return {world: missing for world, missing in found.items() if missing}


def playable() -> list[tuple[str, str]]:
    """The worlds whose assets are here. Without any, all: each then tells what it lacks when it is played."""
    return [world for world in worlds() if not missing_assets(*world)] or worlds()


@cache
def tasks() -> tuple[Task, ...]:
    return tuple(task_from(row) for row in _rows("tasks"))


def task(task_id: str) -> Task:
    return _named({row.id: row for row in tasks()}, task_id, "task")


def task_for(instruction: str) -> tuple[str, dict[str, str]] | None:
    """The task and slots of a wording (trained or kept out), or None for free text.

    Only a whole sentence in the catalogue's words is a wording. Any other word, letter or sign may change its meaning.
    """
    if not SENTENCE.fullmatch(instruction.casefold()):
        return None
    found = _by_wording().get(normalise(instruction))
    return (found.task_id, dict(found.slots)) if found else None


def normalise(instruction: str) -> str:
    """Lower case, words only, without articles and "please": "Pick up THE red  cube!" -> "pick up red cube"."""
    return " ".join(word for word in re.findall(r"[a-z0-9]+", instruction.casefold()) if word not in FILLER)


def phrasings(task_id: str, slots: Mapping[str, str], train: bool | None = None) -> list[Instruction]:
    """Every wording of one filled task, in a fixed order. `train` selects the trained or the kept-out ones."""
    chosen = task(task_id)
    things = scene(chosen.scene_id).things
    names = list(slots)
    found = []
    for template, *nouns in itertools.product(chosen.templates, *(things[slots[name]].nouns for name in names)):
        text = template.text.format(**{name: noun.text for name, noun in zip(names, nouns, strict=True)})
        is_train = template.train and all(noun.train for noun in nouns)
        if train is None or train == is_train:
            found.append(Instruction(text, task_id, slots, is_train))
    return found


def instructions(train: bool | None = None) -> list[Instruction]:
    """Every wording of every task, in a fixed order."""
    return [one for each in tasks() for slots in each.slots for one in phrasings(each.id, slots, train)]


@cache
def _by_wording() -> dict[str, Instruction]:
    found: dict[str, Instruction] = {}
    for one in instructions():
        other = found.setdefault(normalise(one.text), one)
        if (other.task_id, other.slots) != (one.task_id, one.slots):
            raise CatalogueError(f'"{one.text}" means both {other.task_id} {other.slots} and {one.task_id} {one.slots}')
    return found


def robot_from(row: Row) -> Robot:
    """One entry of robots.yaml. Raises CatalogueError."""
    return read_as(Robot, row, cameras=_cameras(row) if "cameras" in row else (), assets=_assets(row))


def scene_from(row: Row) -> Scene:
    """One entry of scenes.yaml. Raises CatalogueError."""
    rows = mapping_of(row, "things")
    things = {name: _thing(name, mapping_of(rows, name)) for name in rows}
    return read_as(Scene, row, cameras=_cameras(row), things=things, assets=_assets(row))


def task_from(row: Row) -> Task:
    """One entry of tasks.yaml, whose robot and scene are known. Raises CatalogueError."""
    environment = mapping_of(row, "environment")
    scene_id = text_of(environment, "scene")
    slots = _fillings(row)
    known = scene(scene_id).things
    for name in sorted({name for filling in slots for name in filling.values()}):
        _named(known, name, f"thing in scene {scene_id}")
    templates = _phrases(row, "instruction_templates")
    for template in templates:
        _check_template(template.text, slots)
    robot_id = robot(text_of(environment, "robot")).id
    return read_as(Task, row, robot_id=robot_id, scene_id=scene_id, templates=templates, slots=slots)


def _cameras(row: Row) -> tuple[CameraSpec, ...]:
    return tuple(read_as(CameraSpec, camera) for camera in rows_of(row, "cameras"))


def _assets(row: Row) -> str:
    return text_of(row, "assets") if "assets" in row else ""


def _thing(name: str, row: Row) -> Thing:
    return read_as(Thing, row, id=name, nouns=_phrases(row, "nouns"))


def _fillings(row: Row) -> tuple[Mapping[str, str], ...]:
    """From `values`: a list of fillings, or for each slot the values to combine."""
    if isinstance(row.get("values"), Mapping):
        values = mapping_of(row, "values")
        by_slot = {name: texts_of(values, name) for name in values}
        if math.prod(map(len, by_slot.values())) > MOST_FILLINGS:
            raise CatalogueError(f"values: more than {MOST_FILLINGS} combinations")
        return tuple(dict(zip(by_slot, filling, strict=True)) for filling in itertools.product(*by_slot.values()))
    return tuple({str(name): text_of(filling, name) for name in filling} for filling in rows_of(row, "values"))


def _check_template(text: str, slots: Sequence[Mapping[str, str]]) -> None:
    """Raise CatalogueError unless the places in braces are the slots of every filling."""
    try:
        places = [place for _, *place in Formatter().parse(text) if place[0] is not None]
    except ValueError as error:
        raise CatalogueError(f"instruction_templates: {text!r}: {error}") from None
    if any(width or conversion for _, width, conversion in places):
        raise CatalogueError(f"instruction_templates: {text!r}: expected a name alone between braces")
    for filling in slots:
        if {name for name, _, _ in places} != set(filling):
            known = ", ".join(sorted(filling)) or "none"
            raise CatalogueError(f"instruction_templates: {text!r} names other slots than values: {known}")


def _phrases(row: Row, name: str) -> tuple[Phrase, ...]:
    return tuple(Phrase(text_of(each, "text"), bool(each.get("train", True))) for each in rows_of(row, name))


def _named(known: Mapping[str, Named], name: str, kind: str) -> Named:
    try:
        return known[name]
    except KeyError:
        raise CatalogueError(f"unknown {kind} {name!r}; known: {', '.join(sorted(known))}") from None


@cache
def _rows(name: str) -> list[Row]:
    return read_rows((FOLDER / f"{name}.yaml").read_text("utf-8"), f"{name}.yaml")
