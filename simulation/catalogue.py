"""Robots, scenes and tasks as written in `catalogue_data/*.yaml`, and what an instruction means. Needs no physics."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import yaml

from simulation.contracts import SimulationError

FOLDER = Path(__file__).parent / "catalogue_data"
Named = TypeVar("Named")
FILLER = frozenset({"the", "a", "an", "please"})


class CatalogueError(SimulationError, LookupError):
    """An unknown name, or a catalogue that contradicts itself."""

    code = "unknown_name"


@dataclass(frozen=True)
class Phrase:
    """A wording; `train` is False for one kept out of the training data."""

    text: str
    train: bool


@dataclass(frozen=True)
class Robot:
    id: str
    name: str
    description: str
    control_hz: int
    action: str
    scenes: tuple[str, ...]


@dataclass(frozen=True)
class Thing:
    """An object that can be carried (`kind` "object") or a place to put it (`kind` "target")."""

    id: str
    kind: str
    nouns: tuple[Phrase, ...]


@dataclass(frozen=True)
class Scene:
    id: str
    name: str
    description: str
    robots: tuple[str, ...]
    things: Mapping[str, Thing]
    suggestions: tuple[str, ...]


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
    """One wording of one task. `train` is False when its template or any of its nouns is kept out of training."""

    text: str
    task_id: str
    slots: Mapping[str, str]
    train: bool


def robots() -> tuple[Robot, ...]:
    return tuple(Robot(**{**row, "scenes": tuple(row["scenes"])}) for row in _rows("robots"))


def robot(robot_id: str) -> Robot:
    return _named({row.id: row for row in robots()}, robot_id, "robot")


@cache
def scenes() -> tuple[Scene, ...]:
    return tuple(_scene(row) for row in _rows("scenes"))


def scene(scene_id: str) -> Scene:
    return _named({row.id: row for row in scenes()}, scene_id, "scene")


@cache
def tasks() -> tuple[Task, ...]:
    return tuple(_task(row) for row in _rows("tasks"))


def task(task_id: str) -> Task:
    return _named({row.id: row for row in tasks()}, task_id, "task")


def suggestions(scene_id: str) -> list[str]:
    """Instructions to offer beside the input; mostly stacking and two-object sentences, which tell policies apart."""
    return list(scene(scene_id).suggestions)


def task_for(instruction: str) -> tuple[str, dict[str, str]] | None:
    """The task and slots that a wording (trained or kept out) stands for, or None for free text."""
    found = _by_wording().get(normalise(instruction))
    return (found.task_id, dict(found.slots)) if found else None


def normalise(instruction: str) -> str:
    """Lower case, words only, without articles and "please": "Pick up THE red  cube!" -> "pick up red cube"."""
    return " ".join(word for word in re.findall(r"[a-z0-9]+", instruction.casefold()) if word not in FILLER)


def phrasings(task_id: str, slots: Mapping[str, str], train: bool | None = None) -> list[Instruction]:
    """Every wording of one filled task, in a fixed order; with `train`, only the trained or the kept-out ones."""
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


def _scene(row: Mapping[str, Any]) -> Scene:
    things = {
        thing_id: Thing(thing_id, thing["kind"], _phrases(thing["nouns"])) for thing_id, thing in row["things"].items()
    }
    return Scene(row["id"], row["name"], row["description"], tuple(row["robots"]), things, tuple(row["suggestions"]))


def _task(row: Mapping[str, Any]) -> Task:
    values = row["values"]
    if isinstance(values, Mapping):
        values = [dict(zip(values, filling, strict=True)) for filling in itertools.product(*values.values())]
    known = scene(row["environment"]["scene"]).things
    for name in sorted({name for filling in values for name in filling.values()}):
        _named(known, name, f"thing in scene {row['environment']['scene']}")
    return Task(
        id=row["id"],
        name=row["name"],
        description=row["description"],
        robot_id=robot(row["environment"]["robot"]).id,
        scene_id=row["environment"]["scene"],
        templates=_phrases(row["instruction_templates"]),
        slots=tuple(values),
        success_criteria=row["success_criteria"],
        max_steps=row["max_steps"],
        timeout_s=row["timeout_s"],
    )


def _phrases(rows: Sequence[Mapping[str, Any]]) -> tuple[Phrase, ...]:
    return tuple(Phrase(row["text"], row.get("train", True)) for row in rows)


def _named(known: Mapping[str, Named], name: str, kind: str) -> Named:
    try:
        return known[name]
    except KeyError:
        raise CatalogueError(f"unknown {kind} {name!r}; known: {', '.join(sorted(known))}") from None


@cache
def _rows(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load((FOLDER / f"{name}.yaml").read_text("utf-8")))
