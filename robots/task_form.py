"""The fields of a moderator's task, and the YAML that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

import yaml
from django import forms

from simulation import catalogue
from simulation.catalogue_rows import CatalogueError, read_rows
from simulation.goals.reading import PREDICATES

SLOTS, ROWS = 3, 6
KEPT_OUT = "~"
JOINS = [("", "the first row alone"), ("all", "all, at one instant"), ("stages", "stages, one after the other")]
JOINS += [("any", "any of them")]
NEW = """\
- id: my_task
  name: My task
  description: Say what is asked for.
  environment: {robot: widowx, scene: table}
  instruction_templates:
  - {text: 'prod the {object}'}
  values:
    object: [red_cube, green_sphere]
  goal:
    touching: {thing: '{object}', other: tool}
  hold_steps: 5
  max_steps: 50
  timeout_s: 60
  suggested: false
"""


class TaskForm(forms.Form):
    """The things to tick are those of `scene_id`: another scene shows its own once the YAML is written anew."""

    id = forms.CharField(max_length=60)
    name = forms.CharField(max_length=100)
    description = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 2}))
    world = forms.ChoiceField(label="Robot and scene")
    templates = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text=f"One wording per line, with slots in braces: put the {{object}} on the {{target}}. A line that "
        f"begins with {KEPT_OUT} is kept out of training.",
    )
    join = forms.ChoiceField(label="The goal is reached with", choices=JOINS, required=False)
    max_steps = forms.IntegerField(min_value=1, label="Most steps (fifths of a second)")
    timeout_s = forms.FloatField(min_value=0.1, label="Most seconds of wall time")
    hold_steps = forms.IntegerField(min_value=1, label="Steps for which success has to last")
    suggested = forms.BooleanField(required=False, label="Offer it to visitors")

    def __init__(self, *args: Any, scene_id: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        things = [(name, name) for name in catalogue.scene(scene_id).things]
        worlds = [("/".join(world), " on ".join(world)) for world in catalogue.worlds()]
        self.fields["world"] = forms.ChoiceField(label="Robot and scene", choices=worlds)
        for number in range(SLOTS):
            self.fields[f"slot_{number}"] = forms.CharField(
                max_length=30, required=False, label=f"Slot {number + 1}: its name"
            )
            self.fields[f"things_{number}"] = forms.MultipleChoiceField(
                choices=things,
                required=False,
                label=f"Slot {number + 1}: its things",
                widget=forms.CheckboxSelectMultiple,
            )
        predicates = [("", "–"), *((name, name) for name in PREDICATES)]
        for number in range(ROWS):
            self.fields[f"predicate_{number}"] = forms.ChoiceField(
                choices=predicates, required=False, label=f"Predicate {number + 1}"
            )
            self.fields[f"values_{number}"] = forms.CharField(
                max_length=200, required=False, label=f"Predicate {number + 1}: its fields"
            )

    def to_yaml(self) -> str:
        """What the fields say. Whether it is a task is for `published_tasks.faults_of` to tell."""
        said = self.cleaned_data
        robot, scene = said["world"].split("/")
        entry = {
            **{name: said[name] for name in ("id", "name", "description")},
            "environment": {"robot": robot, "scene": scene},
            "instruction_templates": [_template(line) for line in said["templates"].splitlines() if line.strip()],
            "values": self._values() or [{}],
            "goal": self._goal(),
            **{name: said[name] for name in ("hold_steps", "max_steps", "timeout_s", "suggested")},
        }
        return str(yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=110, default_flow_style=None))

    def _values(self) -> dict[str, list[str]]:
        said = self.cleaned_data
        slots = [number for number in range(SLOTS) if said[f"slot_{number}"]]
        return {said[f"slot_{number}"]: said[f"things_{number}"] for number in slots}

    def _goal(self) -> Any:
        said = self.cleaned_data
        numbers = [number for number in range(ROWS) if said[f"predicate_{number}"]]
        goals = [{said[f"predicate_{number}"]: _fields_in(said[f"values_{number}"])} for number in numbers]
        if said["join"]:
            return {said["join"]: goals}
        return goals[0] if goals else {}


def initial_of(text: str) -> dict[str, Any] | None:
    """The fields' values for a YAML; None for one that says more than they can, or cannot be read."""
    try:
        (row,) = read_rows(text, "task")
        found = _initial(row)
    except (CatalogueError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return found


def _initial(row: Mapping[str, Any]) -> dict[str, Any]:
    values = row["values"] if isinstance(row["values"], dict) else {}
    join, goals = _goals(row["goal"])
    if row.get("understood") or row.get("words") or len(values) > SLOTS or len(goals) > ROWS:
        raise ValueError("more than the fields can say")
    if not values and row["values"] != [{}]:
        raise ValueError("fillings that are no combinations")
    place = row["environment"]
    found = {name: row.get(name) for name in ("id", "name", "description", "max_steps", "timeout_s")}
    found |= {"hold_steps": row.get("hold_steps", 5), "suggested": row.get("suggested", True), "join": join}
    found["world"] = f"{place['robot']}/{place['scene']}"
    lines = [
        ("" if each.get("train", True) else f"{KEPT_OUT} ") + each["text"] for each in row["instruction_templates"]
    ]
    found["templates"] = "\n".join(lines)
    for number, (slot, things) in enumerate(values.items()):
        found |= {f"slot_{number}": slot, f"things_{number}": things}
    for number, (name, content) in enumerate(goals):
        found |= {f"predicate_{number}": name, f"values_{number}": _shown_fields(name, content)}
    return found


def _goals(goal: Mapping[str, Any]) -> tuple[str, list[tuple[str, Any]]]:
    """How the goal is joined, and its predicates. Raises ValueError for joins within joins."""
    ((name, content),) = goal.items()
    join = name if name in dict(JOINS) else ""
    pairs = [pair for each in content for pair in each.items()] if join else [(name, content)]
    if any(each not in PREDICATES for each, _ in pairs):
        raise ValueError("more than predicates in one join")
    return join, pairs


def _template(line: str) -> dict[str, Any]:
    text = line.strip()
    if text.startswith(KEPT_OUT):
        return {"text": text.removeprefix(KEPT_OUT).strip(), "train": False}
    return {"text": text}


def _fields_in(text: str) -> dict[str, Any]:
    """ "thing={object} by_m=0.05" -> its fields; a number where it reads as one."""
    pairs = (part.partition("=") for part in text.split())
    return {name: _number_or_text(value) for name, _, value in pairs}


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _shown_fields(name: str, content: Any) -> str:
    if not isinstance(content, dict):
        content = {next(iter(_wanted(name))): content}
    return " ".join(f"{key}={value}" for key, value in content.items())


def _wanted(name: str) -> dict[str, bool]:
    """A predicate's fields -> whether each may be left out."""
    return {each.name: each.default is not MISSING for each in fields(PREDICATES[name]) if each.init}


def predicate_help() -> Iterator[tuple[str, str]]:
    """Each predicate with its fields, in brackets those that may be left out."""
    for name in PREDICATES:
        yield name, " ".join(f"[{key}=…]" if optional else f"{key}=…" for key, optional in _wanted(name).items())
