"""Reading scenarios from YAML. Every field is checked; an error names file, line, and what would have been right."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any

from simulation.catalogue_rows import (
    CatalogueError,
    Row,
    count_of,
    flag_of,
    mapping_of,
    read_rows,
    refuse,
    rows_of,
    shown,
    text_of,
    texts_of,
)
from voice.scenarios.model import (
    CATEGORIES,
    DIFFICULTIES,
    DURATION_S,
    TURNS,
    Answer,
    Criterion,
    Expected,
    Result,
    Scenario,
    Script,
    Tool,
    Twist,
)
from voice.scenarios.slots import KINDS, Choice, Code, Number, Slot

FOLDER = Path(__file__).resolve().parent.parent / "scenario_data"
ID = re.compile(r"[a-z][a-z0-9_]{0,49}")
FIELDS = {
    *("id", "name", "category", "difficulty", "description", "you_know", "greeting", "system_prompt"),
    *("required_slots", "success_criteria", "tools", "twists", "caller", "max_turns", "max_duration_seconds"),
}
TOOL_FIELDS = {"id", "description", "cues", "parameters", "results", "hands_over"}
SLOT_FIELDS = {"slot", "description"}
FURTHER = {"number": {"units"}, "code": {"pattern"}, "choice": {"options"}}
"""What only one kind of slot has."""
RESULT_FIELDS = {"when", "done", "message", "asks"}
LONGEST_S = 600


def read_scenarios(text: str, source: str) -> list[Scenario]:
    """The scenarios in a file's text; `source` is its name. Raises CatalogueError."""
    scenarios = [scenario_from(row) for row in read_rows(text, source)]
    for scenario in scenarios:
        if sum(each.id == scenario.id for each in scenarios) > 1:
            raise CatalogueError(f"{source}: there are two scenarios {scenario.id!r}")
    return scenarios


def shipped(folder: Path = FOLDER) -> dict[str, Scenario]:
    """All scenarios in the files of a folder, by id. Raises CatalogueError."""
    found: dict[str, Scenario] = {}
    for path in sorted(folder.glob("*.yaml")):
        for scenario in read_scenarios(path.read_text("utf-8"), path.name):
            if scenario.id in found:
                raise CatalogueError(f"{path.name}: there is a scenario {scenario.id!r} in another file already")
            found[scenario.id] = scenario
    return found


def scenario_from(row: Row) -> Scenario:
    """A scenario from its mapping in YAML, or from the columns of a row. Raises CatalogueError."""
    _only(row, FIELDS)
    tools = {tool.id: tool for tool in (_tool(each) for each in rows_of(row, "tools"))}
    if len(tools) < len(rows_of(row, "tools")):
        refuse(row, "tools", "tools: two have the same id")
    scenario = Scenario(
        id=_id(row),
        name=text_of(row, "name"),
        category=_one_of(row, "category", CATEGORIES),
        difficulty=_one_of(row, "difficulty", DIFFICULTIES),
        description=text_of(row, "description"),
        you_know=_texts(row, "you_know"),
        greeting=text_of(row, "greeting"),
        system_prompt=text_of(row, "system_prompt"),
        required_slots={},
        success_criteria=[_criterion(each, tools) for each in rows_of(row, "success_criteria")],
        tools=tools,
        twists=[_twist(each) for each in rows_of(row, "twists")] if row.get("twists") else [],
        caller=_script(mapping_of(row, "caller")),
        max_turns=count_of(row, "max_turns") if "max_turns" in row else TURNS,
        max_duration_s=_duration(row),
    )
    _check_parameters(row, scenario)
    return replace(scenario, required_slots=_required(mapping_of(row, "required_slots"), scenario.slots))


def _id(row: Row) -> str:
    found = text_of(row, "id")
    if not ID.fullmatch(found):
        refuse(row, "id", f"id: expected small letters, digits and _, at most 50, got {found!r}")
    return found


def _only(row: Row, known: set[str]) -> None:
    for name in row:
        if name not in known:
            refuse(row, name, f"unknown field {name!r}; known are {', '.join(sorted(known))}")


def _one_of(row: Row, name: str, known: Sequence[str]) -> str:
    found = text_of(row, name)
    if found not in known:
        refuse(row, name, f"{name}: expected one of {', '.join(known)}, got {found!r}")
    return found


def _texts(row: Row, name: str) -> dict[str, str]:
    pairs = mapping_of(row, name)
    return {key: text_of(pairs, key) for key in pairs}


def _duration(row: Row) -> int:
    found = count_of(row, "max_duration_seconds") if "max_duration_seconds" in row else DURATION_S
    if found > LONGEST_S:
        refuse(row, "max_duration_seconds", f"max_duration_seconds: expected at most {LONGEST_S}, got {found}")
    return found


def _tool(row: Row) -> Tool:
    _only(row, TOOL_FIELDS)
    given = mapping_of(row, "parameters") if row.get("parameters") else {}
    slots = {name: _slot(mapping_of(given, name)) for name in given}
    results = [_result(each, slots) for each in rows_of(row, "results")]
    if results[-1].when:
        refuse(row, "results", "results: the last one has no `when`, so that every call has an answer")
    for early in results[:-1]:
        if not early.when:
            refuse(
                row,
                "results",
                "results: only the last one has no `when`; what stands after it would never be the answer",
            )
    return Tool(
        id=_id(row),
        description=text_of(row, "description"),
        cues=texts_of(row, "cues") if "cues" in row else (),
        parameters=slots,
        results=results,
        hands_over=flag_of(row, "hands_over") if "hands_over" in row else False,
    )


def _slot(row: Row) -> Slot:
    kind = _one_of(row, "slot", tuple(KINDS))
    _only(row, SLOT_FIELDS | FURTHER.get(kind, set()))
    description = text_of(row, "description")
    if kind == "number":
        return Number(description, units=texts_of(row, "units") if "units" in row else ())
    if kind == "code":
        return Code(description, pattern=_pattern(row))
    if kind == "choice":
        options = mapping_of(row, "options")
        if len(options) < 2:
            refuse(row, "options", "options: expected at least two")
        return Choice(description, options={name: texts_of(options, name) for name in options})
    return KINDS[kind](description)


def _pattern(row: Row) -> str:
    pattern = text_of(row, "pattern")
    try:
        re.compile(pattern)
    except re.error as error:
        refuse(
            row, "pattern", f"pattern: expected a regular expression such as [A-Z]\\d{{4}}, got {pattern!r}: {error}"
        )
    return pattern


def _result(row: Row, slots: Mapping[str, Slot]) -> Result:
    _only(row, RESULT_FIELDS)
    when = _texts(row, "when") if "when" in row else {}
    for name, value in when.items():
        _known(mapping_of(row, "when"), name, slots, "parameter")
        _check_canonical(mapping_of(row, "when"), name, value, slots[name])
    message = text_of(row, "message")
    for name in _placeholders(row, message):
        _known(row, "message", slots, "parameter", name)
    asks = texts_of(row, "asks") if "asks" in row else ()
    for name in asks:
        _known(row, "asks", slots, "parameter", name)
    return Result(when, flag_of(row, "done"), message, asks)


def _placeholders(row: Row, message: str) -> list[str]:
    try:
        return [name for _, name, _, _ in Formatter().parse(message) if name is not None]
    except ValueError as error:
        refuse(row, "message", f"message: expected parameters in braces, such as {{day}}: {error}")


def _known(row: Row, key: str, known: Mapping[str, Any], what: str, name: str | None = None) -> None:
    """Refuse `name` (else the key itself) unless it is known."""
    if (name or key) not in known:
        refuse(row, key, f"unknown {what} {name or key!r}; known are {', '.join(known) or 'none'}")


def _check_canonical(row: Row, key: str, value: str, slot: Slot) -> None:
    if not slot.is_canonical(value):
        refuse(row, key, f"{key}: expected {slot.form}, got {value!r}")


def _criterion(row: Row, tools: Mapping[str, Tool]) -> Criterion:
    _only(row, {"id", "calls", "says"})
    if ("calls" in row) == ("says" in row):
        refuse(row, None, "a criterion has either `calls`, a tool, or `says`, a list of phrases")
    calls = text_of(row, "calls") if "calls" in row else ""
    if calls:
        _known(row, "calls", tools, "tool", calls)
    return Criterion(_id(row), calls, texts_of(row, "says") if "says" in row else ())


def _twist(row: Row) -> Twist:
    _only(row, {"after", "say", "interrupts"})
    interrupts = flag_of(row, "interrupts") if "interrupts" in row else False
    return Twist(count_of(row, "after"), text_of(row, "say"), interrupts)


def _script(row: Row) -> Script:
    _only(row, {"opening", "answers", "closing"})
    answers = [_answer(each) for each in rows_of(row, "answers")]
    return Script(text_of(row, "opening"), answers, text_of(row, "closing"))


def _answer(row: Row) -> Answer:
    _only(row, {"heard", "say", "once"})
    return Answer(texts_of(row, "heard"), text_of(row, "say"), flag_of(row, "once") if "once" in row else False)


def _check_parameters(row: Row, scenario: Scenario) -> None:
    for tool in scenario.tools.values():
        for name, slot in tool.parameters.items():
            if scenario.slots[name] != slot:
                refuse(
                    row, "tools", f"tools: two of them have a parameter {name!r} and differ in it; alike, they share it"
                )


def _required(row: Row, slots: Mapping[str, Slot]) -> dict[str, Expected]:
    found = {}
    for name in row:
        _known(row, name, slots, "slot")
        value = row[name]
        if isinstance(value, dict):
            inner = mapping_of(row, name)
            _only(inner, {"value", "accept"})
            expected = Expected(text_of(inner, "value"), texts_of(inner, "accept"))
        elif isinstance(value, str) and value:
            expected = Expected(value)
        else:
            refuse(
                row, name, f"{name}: expected a text in quotes, or a mapping of value and accept, got {shown(value)}"
            )
        for each in expected.all:
            _check_canonical(row, name, each, slots[name])
        found[name] = expected
    return found
