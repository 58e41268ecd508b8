"""Robots, scenes and tasks from `catalogue_data/*.yaml`, and the meaning of instructions. Needs no physics."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeVar

from simulation import additions, assets, composed, optional_rows
from simulation.additions import Addition
from simulation.catalogue_rows import (
    CatalogueError,
    Row,
    mapping_of,
    placed,
    read_as,
    read_rows,
    refuse,
    rows_of,
    shown,
    text_of,
    texts_of,
)
from simulation.catalogue_tasks import Phrase, Task, phrases_of, read_task
from simulation.contracts import CONTROL_HZ, MAX_STEPS, CameraSpec, Embodiment, Limits
from simulation.matching import SENTENCE, Matcher, Meaning, Pattern, Words, normalise
from simulation.view_format import steps_in

FOLDER = Path(__file__).parent / "catalogue_data"
Named = TypeVar("Named")
FIRST_TASKS = ("pick", "place", "stack")
OFFERED = ("table", "workbench", "cabinet", "warehouse", "kitchen")
"""The scenes that visitors may choose unless the operator says otherwise (`offer`)."""
MATCHERS_KEPT = 64
SCENES_KEPT = WORLDS_KEPT = 64
"""Sets of composed scenes whose robots are kept."""
_offered = frozenset(OFFERED)


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
    differ most. `free_suggestions`: some that have no goal. `regions` and `joints`: sites, and slides and hinges with
    a range, that goals may name. `draws`: a seed leaves out some of its objects.
    """

    id: str
    name: str
    description: str
    robots: tuple[str, ...]
    cameras: tuple[CameraSpec, ...]
    things: Mapping[str, Thing]
    suggestions: tuple[str, ...]
    free_suggestions: tuple[str, ...]
    regions: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    assets: str = ""
    draws: bool = False


@dataclass(frozen=True)
class Instruction:
    """One wording of one task. `train` is False when its template or one of its nouns is kept out of training."""

    text: str
    task_id: str
    slots: Mapping[str, str]
    train: bool


def robots() -> tuple[Robot, ...]:
    """Each with the scenes that it works in, composed ones included."""
    return _robots(tuple((each.scene.id, each.scene.robots) for each in composed.every()))


@lru_cache(SCENES_KEPT)
def _robots(more: tuple[tuple[str, tuple[str, ...]], ...]) -> tuple[Robot, ...]:
    known = (robot_from(row) for row in _rows("robots"))
    return tuple(_with_scenes(row, [scene_id for scene_id, robot_ids in more if row.id in robot_ids]) for row in known)


def _with_scenes(robot: Robot, more: list[str]) -> Robot:
    return replace(robot, scenes=(*robot.scenes, *more)) if more else robot


def robot(robot_id: str) -> Robot:
    return _named({row.id: row for row in robots()}, robot_id, "robot")


def scenes() -> tuple[Scene, ...]:
    """Those of the files, then those that moderators composed (simulation.composed)."""
    return (*shipped_scenes(), *(each.scene for each in composed.every()))


@cache
def shipped_scenes() -> tuple[Scene, ...]:
    return tuple(scene_from(row) for row in _rows("scenes"))


def offer(scene_ids: Iterable[str] | None) -> None:
    """Let visitors choose these scenes from now on, and register policies for them; None: OFFERED.

    Raises CatalogueError, and changes nothing, for an unknown scene, for one that no robot works in, and for none at
    all.
    """
    global _offered
    wanted = OFFERED if scene_ids is None else tuple(dict.fromkeys(scene_ids))
    played = {scene_id for robot in robots() for scene_id in robot.scenes}
    known = [each.id for each in shipped_scenes() if each.id in played]
    if unknown := [name for name in wanted if name not in known]:
        told = f"; known: {', '.join(known)}{optional_rows.hint(*unknown)}"
        raise CatalogueError(f"unknown scene {', '.join(map(repr, unknown))}{told}")
    if not wanted:
        raise CatalogueError(f"at least one scene has to be offered; known: {', '.join(known)}")
    _offered = frozenset(wanted)


def is_offered(scene_id: str) -> bool:
    """Whether visitors may choose it."""
    made = None if scene_id in _offered else composed.find(scene_id)
    return scene_id in _offered or (made is not None and made.offered)


def offered_scenes() -> tuple[Scene, ...]:
    """Those that visitors may choose, in the order of the catalogue."""
    return tuple(scene for scene in scenes() if is_offered(scene.id))


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
        composed.find(scene_id) is not None,
    )


def embodiments() -> list[Embodiment]:
    """Of every robot in each of its scenes that is offered, or will be soon: those that policies are registered for."""
    soon = {each.scene.id for each in composed.every() if each.is_published}
    return [embodiment(*world) for world in worlds() if is_offered(world[1]) or world[1] in soon]


def worlds() -> list[tuple[str, str]]:
    """(robot, scene) of every world, also of those whose assets are missing."""
    return [(robot.id, scene_id) for robot in robots() for scene_id in robot.scenes]


def offered_worlds() -> list[tuple[str, str]]:
    return [(robot_id, scene_id) for robot_id, scene_id in worlds() if is_offered(scene_id)]


@lru_cache(WORLDS_KEPT)
def missing_assets(robot_id: str, scene_id: str) -> str:
    """What the world lacks on this machine, and what to run; "" if it lacks nothing. As it was when first asked."""
    folders = [folder for folder in (robot(robot_id).assets, scene(scene_id).assets) if folder]
    return "; ".join(reason for reason in map(assets.missing, folders) if reason)


def lacking() -> dict[str, str]:
    """ "robot/scene" -> what it lacks on this machine."""
    found = {f"{robot_id}/{scene_id}": missing_assets(robot_id, scene_id) for robot_id, scene_id in worlds()}
    return {world: missing for world, missing in found.items() if missing}


def playable() -> list[tuple[str, str]]:
    """The offered worlds whose assets are here. Without any, all of these: each then tells what it lacks when it is
    played.
    """
    return [world for world in offered_worlds() if not missing_assets(*world)] or offered_worlds()


@cache
def tasks() -> tuple[Task, ...]:
    """Of every scene, in the order of the scenes, without additions (simulation.additions)."""
    found: dict[str, Task] = {}
    for row in _task_rows():
        each = task_from(row)
        if found.setdefault(each.id, each) is not each:
            refuse(row, "id", f"id: there is a task {each.id!r} already, in scene {found[each.id].scene_id}")
    order = [scene.id for scene in shipped_scenes()]
    return tuple(sorted(found.values(), key=lambda each: order.index(each.scene_id)))


def offered_tasks() -> tuple[Task, ...]:
    """Of the offered scenes, without additions."""
    return tuple(task for task in tasks() if is_offered(task.scene_id))


def meant_tasks() -> tuple[Task, ...]:
    """All that sentences may mean, additions included."""
    return (*tasks(), *(each.task for each in additions.meant()))


def suggested_tasks() -> tuple[Task, ...]:
    """Those that are offered to visitors, and that policies are trained for and measured on unless told otherwise."""
    return tuple(task for task in offered_tasks() if task.suggested)


def task(task_id: str) -> Task:
    """Also one that was added, and no longer may be meant: recordings are judged by it."""
    added = {each.task.id: each.task for each in additions.every()}
    return _named(added | {row.id: row for row in tasks()}, task_id, "task")


def task_row(task_id: str) -> Row:
    """The task's entry in its file, which knows its lines."""
    added = {each.task.id: each.row for each in additions.every()}
    return _named(added | {str(row["id"]): row for row in _task_rows()}, task_id, "task")


def task_for(instruction: str, scene_id: str | None = None) -> Meaning | None:
    """The task and slots that a sentence asks for, or None for free text. Without a scene: in any that is offered, the
    first that understands it. A scene that is no longer in the catalogue has no tasks."""
    asked = [scene for scene in scenes() if scene.id == scene_id] if scene_id else offered_scenes()
    meaning = next((found for scene in asked if (found := matcher(scene.id).meaning(instruction))), None)
    return (meaning[0], dict(meaning[1])) if meaning else None


def things_of(meaning: Meaning) -> list[str]:
    """The things of the scene that a filled task is about, those that its goal names by itself included."""
    task_id, slots = meaning
    known = scene(task(task_id).scene_id).things
    named = [text.format(**slots) for text in texts_in(task_row(task_id)["goal"])]
    return list(dict.fromkeys(name for name in (*slots.values(), *named) if name in known))


def texts_in(part: object) -> Iterator[str]:
    """Every text in a goal."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping | list):
        for each in part.values() if isinstance(part, Mapping) else part:
            yield from texts_in(each)


def limits_for(instruction: str, scene_id: str | None = None, control_hz: int = CONTROL_HZ) -> Limits:
    """The limits of a turn with this instruction at a control rate: those of its task, or free text's."""
    found = task_for(instruction, scene_id)
    return task(found[0]).limits(control_hz) if found else Limits(max_steps=steps_in(MAX_STEPS, control_hz))


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
    """Every wording of these tasks (the offered ones), in a fixed order."""
    chosen = offered_tasks() if of is None else of
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


def matcher(scene_id: str) -> Matcher:
    """What reads the sentences of a scene."""
    return _matcher(scene_id, tuple(each for each in additions.meant() if each.task.scene_id == scene_id))


@lru_cache(MATCHERS_KEPT)
def _matcher(scene_id: str, added: tuple[Addition, ...]) -> Matcher:
    shipped = [task for task in tasks() if task.scene_id == scene_id]
    return matcher_of(scene_id, [*shipped, *(each.task for each in added)])


def matcher_of(scene_id: str, here: Iterable[Task]) -> Matcher:
    """The same for tasks of the scene that need not be in the catalogue."""
    nouns = {name: [noun.text for noun in thing.nouns] for name, thing in scene(scene_id).things.items()}
    return Matcher(words(), nouns, [pattern for task in here for pattern in _patterns(task)])


def _patterns(task: Task) -> Iterator[Pattern]:
    spoken = {
        slot: {value: [each.text for each in said] for value, said in by.items()} for slot, by in task.words.items()
    }
    for text in (*(template.text for template in task.templates), *task.understood):
        yield Pattern(text, task.id, task.slots, spoken)


@cache
def words() -> Words:
    """What the language has for all scenes."""
    (row,) = _rows("words")
    near = {word: texts_of(each, word) for each in _rows("near_words") for word in each}
    same = mapping_of(row, "same")
    return Words(
        texts_of(row, "openings"), texts_of(row, "closings"), {said: text_of(same, said) for said in same}, near
    )


def robot_from(row: Row) -> Robot:
    """One entry of robots.yaml. Raises CatalogueError."""
    return read_as(Robot, row, cameras=_cameras(row) if "cameras" in row else (), assets=_assets(row))


def scene_from(row: Row) -> Scene:
    """One entry of scenes.yaml. Raises CatalogueError."""
    rows = mapping_of(row, "things")
    things = {name: _thing(name, mapping_of(rows, name)) for name in rows}
    named = {key: tuple(mapping_of(row, key)) if key in row else () for key in ("regions", "joints")}
    return read_as(Scene, row, cameras=_cameras(row), things=things, assets=_assets(row), draws=_draws(row), **named)


def task_from(row: Row) -> Task:
    """One entry of a file of tasks, whose robot and scene are known. Raises CatalogueError with file and line.

    Its goal is read where it is judged (simulation.goals).
    """
    try:
        environment = mapping_of(row, "environment")
        place = robot(text_of(environment, "robot")), scene(text_of(environment, "scene"))
        return read_task(row, place[0].id, place[1].id, place[1].things)
    except CatalogueError as error:
        raise placed(row, error) from None


def _cameras(row: Row) -> tuple[CameraSpec, ...]:
    return tuple(read_as(CameraSpec, camera) for camera in rows_of(row, "cameras"))


def _assets(row: Row) -> str:
    return text_of(row, "assets") if "assets" in row else ""


def _draws(row: Row) -> bool:
    if "start" in row and row["start"] != "draws":
        refuse(
            row,
            "start",
            f"start: expected draws, or nothing where every seed has all things; got {shown(row['start'])}",
        )
    return "start" in row


def _thing(name: str, row: Row) -> Thing:
    return read_as(Thing, row, id=name, nouns=phrases_of(row, "nouns"))


def _named(known: Mapping[str, Named], name: str, kind: str) -> Named:
    try:
        return known[name]
    except KeyError:
        told = f"; known: {', '.join(sorted(known))}{optional_rows.hint(name)}"
        raise CatalogueError(f"unknown {kind} {name!r}{told}") from None


@cache
def _rows(name: str) -> list[Row]:
    shipped = read_rows((FOLDER / f"{name}.yaml").read_text("utf-8"), f"{name}.yaml")
    return shipped + optional_rows.rows(name) if name in ("robots", "scenes") else shipped


@cache
def _task_rows() -> list[Row]:
    """The entries of all files of tasks."""
    paths = sorted((FOLDER / "tasks").glob("*.yaml"))
    shipped = [row for path in paths for row in read_rows(path.read_text("utf-8"), f"tasks/{path.name}")]
    return shipped + optional_rows.rows("tasks")
