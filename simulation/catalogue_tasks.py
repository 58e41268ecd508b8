"""Tasks as they stand in YAML, read field by field. docs/goals.md describes the fields."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from simulation.catalogue_rows import Row, count_of, flag_of, mapping_of, read_as, refuse, rows_of, text_of, texts_of
from simulation.contracts import CONTROL_HZ, Limits
from simulation.matching import expanded, slots_of
from simulation.view_format import steps_in

TEMPLATES = "instruction_templates"
HOLD_STEPS = 5  # fifths of a second, of a task that names no other number
MOST_FILLINGS = 10_000  # of the slots of one task


@dataclass(frozen=True)
class Phrase:
    """A wording. `train` is False for one that is kept out of the training data."""

    text: str
    train: bool


@dataclass(frozen=True)
class Task:
    """A family of instructions with one judged goal, as data (simulation.goals.reading).

    `slots`: every allowed filling of the templates' slots. `words`: slots that stand for words and not for things, as
    slot -> value -> its wordings. `understood`: further patterns (simulation.matching) that mean the task and are no
    wordings of it. `suggested`: offered to visitors and measured by default, because policies are trained for it.
    `max_steps` and `hold_steps`, for which success has to last, count fifths of a second: control steps at 5 Hz.
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

    def limits(self, control_hz: int = CONTROL_HZ) -> Limits:
        """Those of a turn with a robot of this control rate."""
        return Limits(max_steps=steps_in(self.max_steps, control_hz), wall_s=self.timeout_s)

    @property
    def instruction_template(self) -> str:
        return self.templates[0].text


def read_task(row: Row, robot_id: str, scene_id: str, things: Collection[str]) -> Task:
    """An entry for a place that is known. `things`: what its slots may stand for."""
    slots = _fillings(row)
    words = _spoken(mapping_of(row, "words")) if "words" in row else {}
    read = read_as(
        Task,
        row,
        robot_id=robot_id,
        scene_id=scene_id,
        templates=phrases_of(row, TEMPLATES),
        understood=texts_of(row, "understood") if "understood" in row else (),
        slots=slots,
        words=words,
        hold_steps=count_of(row, "hold_steps") if "hold_steps" in row else HOLD_STEPS,
        suggested=flag_of(row, "suggested") if "suggested" in row else True,
    )
    if read.hold_steps > read.max_steps:
        refuse(row, "hold_steps", f"hold_steps: {read.hold_steps} are more than max_steps, {read.max_steps}")
    _check_values(row, read, things)
    for template in read.templates:
        _check_template(row, template.text, slots)
    for text in read.understood:
        _check_pattern(row, text, slots)
    return read


def _check_values(row: Row, task: Task, things: Collection[str]) -> None:
    """Raise CatalogueError unless every value is a thing of the scene, or one of its slot's words."""
    for name, value in sorted({pair for filling in task.slots for pair in filling.items()}):
        known: Collection[str] = task.words.get(name, things)
        if value not in known:
            kind = f"value of {name}" if name in task.words else f"thing in scene {task.scene_id}"
            refuse(row, "values", f"values: unknown {kind} {value!r}; known: {', '.join(sorted(known))}")


def _check_pattern(row: Row, text: str, slots: Sequence[Mapping[str, str]]) -> None:
    """Raise CatalogueError unless every form of the pattern has the slots of every filling."""
    filled = {frozenset(filling) for filling in slots}
    for form in expanded(text):
        if set("()[]|") & set(form):
            refuse(row, "understood", f"understood: {text!r}: a bracket is not closed")
        if filled - {frozenset(slots_of(form))}:
            refuse(row, "understood", f"understood: {text!r} names other slots than values")


def _spoken(row: Row) -> dict[str, dict[str, tuple[Phrase, ...]]]:
    return {slot: {value: phrases_of(mapping_of(row, slot), value) for value in mapping_of(row, slot)} for slot in row}


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


def phrases_of(row: Row, name: str) -> tuple[Phrase, ...]:
    return tuple(Phrase(text_of(each, "text"), bool(each.get("train", True))) for each in rows_of(row, name))
