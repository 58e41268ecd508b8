"""Robots, scenes and tasks from `catalogue_data/*.yaml`, and the meaning of instructions. Needs no physics."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, TypeVar

from simulation.catalogue_rows import (
    CatalogueError,
    Row,
    count_of,
    flag_of,
    mapping_of,
    placed,
    read_as,
    read_rows,
    refuse,
    rows_of,
    text_of,
    texts_of,
)
from simulation.contracts import CameraSpec, Embodiment, Limits
from simulation.matching import SENTENCE, Matcher, Meaning, Pattern, Words, expanded, normalise, slots_of

FOLDER = Path(__file__).parent / "catalogue_data"
Named = TypeVar("Named")
FIRST_TASKS = ("pick", "place", "stack")
TEMPLATES = "instruction_templates"
HOLD_STEPS = 5  # of a task that names no other number: a second
MOST_FILLINGS = 10_000  # of the slots of one task


@dataclass(frozen=True)
class Phrase:
    """A wording. `train` is False for one that is kept out of the training data."""

    text: str
    train: bool


@dataclass(frozen=True)
class Robot:
    id: str
    name: str
    description: str
    control_hz: int
    action_space: str
    action: str
    scenes: tuple[str, ...]


@dataclass(frozen=True)
class Thing:
    """An object that can be carried (`kind` "object"), or a place for it (`kind` "target")."""

    id: str
    kind: str
    nouns: tuple[Phrase, ...]


@dataclass(frozen=True)
class Scene:
    """`suggestions`: instructions to offer beside the input; mostly sentences with two objects, in which policies
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


@dataclass(frozen=True)
class Task:
    """A family of instructions with one judged goal, as data (simulation.goals.reading).

    `slots`: every allowed filling of the templates' slots. `words`: slots that stand for words and not for things, as
    slot -> value -> its wordings. `understood`: further patterns (simulation.matching) that mean the task and are no
    wordings of it. `suggested`: offered to visitors and measured by default, because policies are trained for it.
    `hold_steps`: how many control steps success has to last.
    """

    id: str
    name: str
    description: str
    robot_id: str
    scene_id: str
    templates: tuple[Phrase, ...]
    slots: tuple[Mapping[str, str], ...]
    words: Mapping[str, Mapping[str, tuple[Phrase, ...]]]
    understood: tuple[str, ...]
    goal: Mapping[str, Any]
    max_steps: int
    timeout_s: float
    hold_steps: int
    suggested: bool

    @property
    def limits(self) -> Limits:
        return Limits(max_steps=self.max_steps, wall_s=self.timeout_s)

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
    return tuple(read_as(Robot, row) for row in _rows("robots"))


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
    return Embodiment(robot_id, scene_id, arm.action_space, arm.control_hz, scene(scene_id).cameras)


def embodiments() -> list[Embodiment]:
    """Of every robot in each of its scenes."""
    return [embodiment(robot.id, scene_id) for robot in robots() for scene_id in robot.scenes]


@cache
def tasks() -> tuple[Task, ...]:
    """Of every scene, in the order of the scenes."""
    found: dict[str, Task] = {}
    for row in (row for scene in scenes() for row in task_rows(scene.id)):
        each = task_from(row)
        if found.setdefault(each.id, each) is not each:
            refuse(row, "id", f"id: there is a task {each.id!r} already, in scene {found[each.id].scene_id}")
    return tuple(found.values())


def suggested_tasks() -> tuple[Task, ...]:
    """Those that are offered to visitors, and that policies are trained for and measured on unless told otherwise."""
    return tuple(task for task in tasks() if task.suggested)


def task(task_id: str) -> Task:
    return _named({row.id: row for row in tasks()}, task_id, "task")


def task_row(task_id: str) -> Row:
    """The task's entry in its file, which knows its lines."""
    rows = (row for scene in scenes() for row in task_rows(scene.id))
    return _named({str(row["id"]): row for row in rows}, task_id, "task")


def task_for(instruction: str, scene_id: str | None = None) -> Meaning | None:
    """The task and slots that a sentence asks for, or None for free text. Without a scene: in any scene, the first that
    understands it. A scene that is no longer in the catalogue has no tasks."""
    readers = [matcher(scene.id) for scene in scenes() if scene_id in (None, "", scene.id)]
    meaning = next((found for reader in readers if (found := reader.meaning(instruction))), None)
    return (meaning[0], dict(meaning[1])) if meaning else None


def limits_for(instruction: str, scene_id: str | None = None) -> Limits:
    """The limits of a turn with this instruction: those of its task, or the usual ones for free text."""
    found = task_for(instruction, scene_id)
    return task(found[0]).limits if found else Limits()


def wording(task_id: str, slots: Mapping[str, str]) -> str:
    """How a filled task is put by default: "put the red cube on the left plate"."""
    return phrasings(task_id, slots)[0].text


def phrasings(task_id: str, slots: Mapping[str, str], train: bool | None = None) -> list[Instruction]:
    """Every wording of one filled task, in a fixed order. `train` selects the trained or the kept-out ones."""
    return phrasings_of(task(task_id), slots, train)


def phrasings_of(chosen: Task, slots: Mapping[str, str], train: bool | None = None) -> list[Instruction]:
    """The same of a task that need not be in the catalogue."""
    things = scene(chosen.scene_id).things
    names = list(slots)
    said = [chosen.words[name][slots[name]] if name in chosen.words else things[slots[name]].nouns for name in names]
    found = []
    for template, *nouns in itertools.product(chosen.templates, *said):
        text = template.text.format(**{name: noun.text for name, noun in zip(names, nouns, strict=True)})
        is_train = template.train and all(noun.train for noun in nouns)
        if train is None or train == is_train:
            found.append(Instruction(text, chosen.id, slots, is_train))
    return found


def instructions(train: bool | None = None, of: Iterable[Task] | None = None) -> list[Instruction]:
    """Every wording of these tasks (all tasks), in a fixed order."""
    chosen = tasks() if of is None else of
    return [one for each in chosen for slots in each.slots for one in phrasings(each.id, slots, train)]


def first_meaning(instruction: str) -> Meaning | None:
    """What the first releases understood: the exact wordings of their three tasks."""
    if not SENTENCE.fullmatch(instruction.casefold()):
        return None
    found = _first_wordings().get(normalise(instruction))
    return (found.task_id, dict(found.slots)) if found else None


@cache
def _first_wordings() -> dict[str, Instruction]:
    return {normalise(one.text): one for one in instructions(of=[task(name) for name in FIRST_TASKS])}


@cache
def matcher(scene_id: str) -> Matcher:
    """What reads the sentences of a scene."""
    return matcher_of(scene_id, [task for task in tasks() if task.scene_id == scene_id])


def matcher_of(scene_id: str, here: Iterable[Task]) -> Matcher:
    """The same for tasks of the scene that need not be in the catalogue."""
    nouns = {name: [noun.text for noun in thing.nouns] for name, thing in scene(scene_id).things.items()}
    return Matcher(_words(), nouns, [pattern for task in here for pattern in _patterns(task)])


def _patterns(task: Task) -> Iterator[Pattern]:
    spoken = {
        slot: {value: [each.text for each in said] for value, said in by.items()} for slot, by in task.words.items()
    }
    for text in (*(template.text for template in task.templates), *task.understood):
        yield Pattern(text, task.id, task.slots, spoken)


@cache
def _words() -> Words:
    (row,) = _rows("words")
    near = {word: texts_of(each, word) for each in _rows("near_words") for word in each}
    same = mapping_of(row, "same")
    return Words(
        texts_of(row, "openings"), texts_of(row, "closings"), {said: text_of(same, said) for said in same}, near
    )


def scene_from(row: Row) -> Scene:
    """One entry of scenes.yaml. Raises CatalogueError."""
    cameras = tuple(read_as(CameraSpec, camera) for camera in rows_of(row, "cameras"))
    rows = mapping_of(row, "things")
    things = {name: _thing(name, mapping_of(rows, name)) for name in rows}
    return read_as(Scene, row, cameras=cameras, things=things)


def task_from(row: Row) -> Task:
    """One entry of a file of tasks, whose robot and scene are known. Raises CatalogueError with file and line.

    Its goal is read where it is judged (simulation.goals).
    """
    try:
        return _task_from(row)
    except CatalogueError as error:
        raise placed(row, error) from None


def _task_from(row: Row) -> Task:
    environment = mapping_of(row, "environment")
    slots = _fillings(row)
    words = _spoken(mapping_of(row, "words")) if "words" in row else {}
    read = read_as(
        Task,
        row,
        robot_id=robot(text_of(environment, "robot")).id,
        scene_id=scene(text_of(environment, "scene")).id,
        templates=_phrases(row, TEMPLATES),
        understood=texts_of(row, "understood") if "understood" in row else (),
        slots=slots,
        words=words,
        hold_steps=count_of(row, "hold_steps") if "hold_steps" in row else HOLD_STEPS,
        suggested=flag_of(row, "suggested") if "suggested" in row else True,
    )
    if read.hold_steps > read.max_steps:
        refuse(row, "hold_steps", f"hold_steps: {read.hold_steps} are more than max_steps, {read.max_steps}")
    _check_values(row, read)
    for template in read.templates:
        _check_template(row, template.text, slots)
    for text in read.understood:
        _check_pattern(row, text, slots)
    return read


def _check_values(row: Row, task: Task) -> None:
    """Raise CatalogueError unless every value is a thing of the scene, or one of its slot's words."""
    things = scene(task.scene_id).things
    for name, value in sorted({pair for filling in task.slots for pair in filling.items()}):
        known: Iterable[str] = task.words.get(name, things)
        if value not in known:
            kind = f"value of {name}" if name in task.words else f"thing in scene {task.scene_id}"
            refuse(row, "values", f"values: unknown {kind} {value!r}; known: {', '.join(sorted(known))}")


def _check_pattern(row: Row, text: str, slots: Sequence[Mapping[str, str]]) -> None:
    """Raise CatalogueError unless every form of the pattern has the slots of every filling."""
    for form in expanded(text):
        if set("()[]|") & set(form):
            refuse(row, "understood", f"understood: {text!r}: a bracket is not closed")
        if any(slots_of(form) != set(filling) for filling in slots):
            refuse(row, "understood", f"understood: {text!r} names other slots than values")


def _spoken(row: Row) -> dict[str, dict[str, tuple[Phrase, ...]]]:
    return {slot: {value: _phrases(mapping_of(row, slot), value) for value in mapping_of(row, slot)} for slot in row}


def _thing(name: str, row: Row) -> Thing:
    return read_as(Thing, row, id=name, nouns=_phrases(row, "nouns"))


def _fillings(row: Row) -> tuple[Mapping[str, str], ...]:
    """From `values`: a list of fillings, or for each slot the values to combine."""
    if isinstance(row.get("values"), Mapping):
        values = mapping_of(row, "values")
        by_slot = {name: texts_of(values, name) for name in values}
        if math.prod(map(len, by_slot.values())) > MOST_FILLINGS:
            refuse(row, "values", f"values: more than {MOST_FILLINGS} combinations")
        return tuple(dict(zip(by_slot, filling, strict=True)) for filling in itertools.product(*by_slot.values()))
    return tuple({str(name): text_of(filling, name) for name in filling} for filling in rows_of(row, "values"))


def _check_template(row: Row, text: str, slots: Sequence[Mapping[str, str]]) -> None:
    """Raise CatalogueError unless the places in braces are the slots of every filling."""
    try:
        places = [place for _, *place in Formatter().parse(text) if place[0] is not None]
    except ValueError as error:
        refuse(row, TEMPLATES, f"{TEMPLATES}: {text!r}: {error}")
    if any(width or conversion for _, width, conversion in places):
        refuse(row, TEMPLATES, f"{TEMPLATES}: {text!r}: expected a name alone between braces")
    for filling in slots:
        if {name for name, _, _ in places} != set(filling):
            known = ", ".join(sorted(filling)) or "none"
            refuse(row, TEMPLATES, f"{TEMPLATES}: {text!r} names other slots than values: {known}")


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


@cache
def task_rows(scene_id: str) -> list[Row]:
    """The entries of the file with the scene's tasks; none without such a file."""
    path = FOLDER / "tasks" / f"{scene_id}.yaml"
    return read_rows(path.read_text("utf-8"), f"tasks/{path.name}") if path.exists() else []
