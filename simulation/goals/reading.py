"""Goals as they stand in YAML: `{on: {thing: "{object}", support: "{target}", within_m: 0.05}}`, joined by all, any,
not and stages. docs/goals.md describes every predicate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from string import Formatter
from typing import Annotated, Literal, NoReturn, get_args, get_origin, get_type_hints
from typing import Any as AnyValue

from simulation.catalogue_rows import Row, refuse, shown
from simulation.goals import benchmark, changes, handling, joins, joints, places
from simulation.goals.judging import Goal

PREDICATES: Mapping[str, type] = {
    "lifted": handling.Lifted,
    "placed": handling.Placed,
    "stacked": handling.Stacked,
    "released": handling.Released,
    "on": places.On,
    "in": places.In,
    "inside": places.Inside,
    "touching": places.Touching,
    "upright": places.Upright,
    "tipped": places.Tipped,
    "next_to": places.NextTo,
    "left_of": places.LeftOf,
    "right_of": places.RightOf,
    "between": places.Between,
    "at_rest": places.AtRest,
    "open": joints.Open,
    "closed": joints.Closed,
    "turned_on": joints.TurnedOn,
    "moved": changes.Moved,
    "turned": changes.Turned,
    "swapped": changes.Swapped,
    "rests_over": benchmark.RestsOver,
    "over_region": benchmark.OverRegion,
    "within_region": benchmark.WithinRegion,
    "past": benchmark.Past,
}
JOINS: Mapping[str, Callable[[tuple[Goal, ...]], Goal]] = {"all": joins.All, "any": joins.Any, "stages": joins.Stages}
KNOWN = (*JOINS, "not", *PREDICATES)
MOST = {"m": 2.0, "deg": 180.0, "share": 1.0}  # what a number of each unit may be at most; all are over 0
MOST_SIGNED = 10.0  # of a number without a unit, either way
UNIT = re.compile(r"(?P<stem>.+)_(?P<unit>m|cm|mm|deg|rad|s|ms)")
Names = Mapping[str, frozenset[str]]


def read_goal(row: Row, slots: Mapping[str, str], names: Names) -> Goal:
    """The goal under the key `goal` of a task, with its slots filled. Raises CatalogueError with file and line.

    `names`: the "thing"s, "region"s and "joint"s that there are. A kind that is left out is not checked.
    """
    if "goal" not in row:
        refuse(row, None, f"goal is missing; there is {', '.join(map(str, row)) or 'nothing'}")
    return _Reader(slots, names).goal(row, "goal", row["goal"])


class _Reader:
    def __init__(self, slots: Mapping[str, str], names: Names) -> None:
        self.slots, self.names = slots, names

    def goal(self, row: Row, key: str, value: AnyValue) -> Goal:
        """`row` and `key`: where the value stands."""
        if not isinstance(value, dict) or len(value) != 1:
            refuse(row, key, f"{key}: expected one predicate with its fields, got {shown(value)}")
        (name, content) = next(iter(value.items()))
        if name in JOINS:
            return JOINS[name](self._goals(value, name, content))
        if name == "not":
            return joins.Not(self.goal(value, name, content))
        if name not in PREDICATES:
            refuse(value, name, f"unknown predicate {name!r}; known: {', '.join(KNOWN)}")
        return self._predicate(value, name, content)

    def _goals(self, row: Row, name: str, content: AnyValue) -> tuple[Goal, ...]:
        if not isinstance(content, list) or not content:
            refuse(row, name, f"{name}: expected a list of goals, got {shown(content)}")
        return tuple(self.goal(row, name, each) for each in content)

    def _predicate(self, row: Row, name: str, content: AnyValue) -> Goal:
        kind, wanted = PREDICATES[name], {field.name: field for field in fields(PREDICATES[name]) if field.init}
        if isinstance(content, str):  # the first field alone
            content = {next(iter(wanted)): content}
        if not isinstance(content, dict):
            refuse(row, name, f"{name}: expected its fields ({', '.join(wanted)}), got {shown(content)}")
        place = content if getattr(content, "lines", None) else row
        hints = get_type_hints(kind, include_extras=True)
        for key in content:
            if key not in wanted:
                _refuse_field(place, name, str(key), wanted)
        missing = [each for each, field in wanted.items() if field.default is MISSING and each not in content]
        if missing:
            refuse(row, name, f"{name}: {', '.join(missing)} is missing")
        built: Goal = kind(**{key: self._value(place, name, key, hints[key], content[key]) for key in content})
        return built

    def _value(self, row: Row, name: str, key: str, hint: AnyValue, value: AnyValue) -> AnyValue:
        where = f"{name}.{key}"
        if isinstance(value, str):
            value = self._filled(row, key, where, value)
        if get_origin(hint) is Literal:
            if value not in get_args(hint):
                refuse(row, key, f"{where}: expected one of {', '.join(get_args(hint))}, got {shown(value)}")
            return value
        base, meaning = get_args(hint) if get_origin(hint) is Annotated else (hint, "")
        if base is float:
            return _number(row, key, where, meaning, value) if meaning else _signed(row, key, where, value)
        return self._name(row, key, where, meaning, value)

    def _filled(self, row: Row, key: str, where: str, value: str) -> str:
        """The text with its slots filled."""
        try:
            used = {slot for _, slot, *_ in Formatter().parse(value) if slot is not None}
        except ValueError as error:
            refuse(row, key, f"{where}: {value!r}: {error}")
        for slot in sorted(used):
            if slot not in self.slots:
                refuse(row, key, f"{where}: unknown slot {slot!r}; known: {', '.join(self.slots) or 'none'}")
            value = value.replace(f"{{{slot}}}", self.slots[slot])
        return value

    def _name(self, row: Row, key: str, where: str, kind: str, value: AnyValue) -> str:
        if not isinstance(value, str) or not value:
            refuse(row, key, f"{where}: expected a name, got {shown(value)}")
        if kind == "toucher" and value == places.TOOL:
            return value
        kind = "thing" if kind == "toucher" else kind
        known = self.names.get(kind)
        if known is not None and value not in known:
            refuse(row, key, f"{where}: unknown {kind} {value!r}; known: {', '.join(sorted(known)) or 'none'}")
        return value


def _number(row: Row, key: str, where: str, unit: str, value: AnyValue) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        refuse(row, key, f"{where}: expected a number, got {shown(value)}")
    if not 0 < value <= MOST[unit]:
        refuse(row, key, f"{where}: expected a number over 0, at most {MOST[unit]:g}, got {shown(value)}")
    return float(value)


def _signed(row: Row, key: str, where: str, value: AnyValue) -> float:
    """A number of a joint, whose unit is the joint's."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not -MOST_SIGNED <= value <= MOST_SIGNED:
        refuse(row, key, f"{where}: expected a number, {-MOST_SIGNED:g}..{MOST_SIGNED:g}, got {shown(value)}")
    return float(value)


def _refuse_field(row: Row, name: str, key: str, wanted: Mapping[str, Field[AnyValue]]) -> NoReturn:
    split = UNIT.fullmatch(key)
    stem = split["stem"] if split else key
    other = next((each for each in wanted if (found := UNIT.fullmatch(each)) and found["stem"] == stem), None)
    if other:
        unit = split["unit"] if split else "none"
        refuse(row, key, f"{name}: unknown unit {unit!r} of {stem!r}; say {other}")
    refuse(row, key, f"{name}: unknown field {key!r}; known: {', '.join(wanted)}")
