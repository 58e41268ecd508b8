"""The fields of a moderator's scene, and the YAML that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml
from django import forms
from django.core.exceptions import ValidationError

from simulation.catalogue_rows import CatalogueError, read_rows
from simulation.scene_plans import MOST_THINGS, NAME, ROOMS, library

ROWS = MOST_THINGS
NEW = """\
- id: my_scene
  name: My scene
  description: Say what is on the table.
  room: plates
  things:
    red_cube: {}
    blue_cup:
      like: cup
      colour: [0.1, 0.25, 0.78]
      nouns:
      - {text: blue cup}
    carrot: {area_m: [0.2, 0.39, -0.15, 0.0]}
    eggplant: {}
  draws:
  - of: [carrot, eggplant]
    count: 1
"""
ROOM_NAMES = {
    "bench": "a bare table",
    "plates": "a table with two plates",
    "cabinet": "a table with a cabinet of two drawers",
}


class ColourField(forms.CharField):
    """ "#1a40c7" -> red, green and blue, 0..1; empty for the library's colour."""

    def clean(self, value: Any) -> tuple[float, ...] | None:
        text = str(value or "").strip()
        if not text:
            return None
        digits = text.removeprefix("#")
        if len(digits) != 6 or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
            raise ValidationError("Expected a colour such as #1a40c7, or nothing")
        return tuple(round(int(digits[at : at + 2], 16) / 255, 3) for at in (0, 2, 4))


class NumbersField(forms.CharField):
    """Two numbers are a place, four an area; empty for anywhere."""

    def clean(self, value: Any) -> list[float]:
        try:
            numbers = [float(word) for word in str(value or "").replace(",", " ").split()]
        except ValueError:
            numbers = [0.0]
        if len(numbers) not in (0, 2, 4):
            raise ValidationError(
                "Expected x y for a place, or x lowest, x highest, y lowest, y highest for an area [m]"
            )
        return numbers


class SceneForm(forms.Form):
    id = forms.CharField(max_length=40)
    name = forms.CharField(max_length=100)
    description = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 2}))
    room = forms.ChoiceField(choices=[(name, ROOM_NAMES[name]) for name in ROOMS])
    least = forms.IntegerField(min_value=1, required=False, label="Of the drawn things, a seed takes at least")
    most = forms.IntegerField(min_value=1, required=False, label="and at most")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = [("", "–"), *((name, name) for name in library())]
        for row in range(ROWS):
            own = {
                "like": forms.ChoiceField(choices=known, required=False),
                "called": forms.CharField(max_length=40, required=False),
                "colour": ColourField(required=False),
                "start": NumbersField(required=False),
                "drawn": forms.BooleanField(required=False),
            }
            for name, field in own.items():
                field.widget.attrs["aria-label"] = f"Thing {row + 1}: {COLUMNS[name]}"
                self.fields[f"{name}_{row}"] = field

    def rows(self) -> list[list[forms.BoundField]]:
        """The bound fields of each thing, in the order of COLUMNS."""
        return [[self[f"{name}_{row}"] for name in COLUMNS] for row in range(ROWS)]

    def single(self) -> list[forms.BoundField]:
        """All other fields."""
        return [self[name] for name in ("id", "name", "description", "room", "least", "most")]

    def to_yaml(self) -> str:
        """What the fields say. Whether it is a scene is for `published_scenes.faults_of` to tell."""
        said = self.cleaned_data
        rows = [row for row in range(ROWS) if said[f"like_{row}"]]
        names = {row: self._name(row) for row in rows}
        entry: dict[str, Any] = {name: said[name] for name in ("id", "name", "description", "room")}
        entry["things"] = {names[row]: self._thing(row) for row in rows}
        if drawn := [names[row] for row in rows if said[f"drawn_{row}"]]:
            least = said["least"] or said["most"] or 1
            entry["draws"] = [{"of": drawn, "least": least, "most": said["most"] or least}]
        return str(yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=110, default_flow_style=None))

    def _name(self, row: int) -> str:
        """ "Blue cup" -> blue_cup; what has no name of its own has that of the library."""
        called = "_".join(self.cleaned_data[f"called_{row}"].lower().split())
        return called or str(self.cleaned_data[f"like_{row}"])

    def _thing(self, row: int) -> dict[str, Any]:
        said = self.cleaned_data
        name, like, start = self._name(row), said[f"like_{row}"], said[f"start_{row}"]
        found: dict[str, Any] = {} if name == like else {"like": like}
        if said[f"colour_{row}"]:
            found["colour"] = list(said[f"colour_{row}"])
        if start:
            found["at_m" if len(start) == 2 else "area_m"] = start
        if name != like:
            found["nouns"] = [{"text": name.replace("_", " ")}]
        return found


COLUMNS: Mapping[str, str] = {
    "like": "a thing of the library",
    "called": "its own name",
    "colour": "its colour, #rrggbb",
    "start": "where it starts [m]",
    "drawn": "the seed draws it",
}


def initial_of(text: str) -> dict[str, Any] | None:
    """The fields' values for a YAML; None for one that says more than they can, or cannot be read."""
    try:
        (row,) = read_rows(text, "scene")
        return _initial(row)
    except (CatalogueError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _initial(row: Mapping[str, Any]) -> dict[str, Any]:
    draws = row.get("draws", [])
    if len(draws) > 1 or len(row["things"]) > ROWS or {*row} & {"area_m", "tasks", "suggestions", "free_suggestions"}:
        raise ValueError("more than the fields can say")
    found: dict[str, Any] = {name: row[name] for name in ("id", "name", "description", "room")}
    drawn = draws[0]["of"] if draws else []
    if draws:
        count = draws[0].get("count")
        found |= {"least": count or draws[0]["least"], "most": count or draws[0]["most"]}
    for number, (name, thing) in enumerate(row["things"].items()):
        found |= _initial_thing(number, name, thing) | {f"drawn_{number}": name in drawn}
    return found


def _initial_thing(row: int, name: str, thing: Mapping[str, Any]) -> dict[str, Any]:
    nouns = thing.get("nouns", [{"text": name.replace("_", " ")}])
    own = name != thing.get("like", name)
    if "turned_deg" in thing or nouns != [{"text": name.replace("_", " ")}] or not NAME.fullmatch(name):
        raise ValueError("more than the fields can say")
    if "nouns" in thing and not own:
        raise ValueError("more than the fields can say")
    colour = "#" + "".join(f"{round(255 * part):02x}" for part in thing["colour"]) if "colour" in thing else ""
    start = " ".join(str(number) for number in thing.get("at_m", thing.get("area_m", [])))
    return {
        f"like_{row}": thing.get("like", name),
        f"called_{row}": name.replace("_", " ") if own else "",
        f"colour_{row}": colour,
        f"start_{row}": start,
    }
