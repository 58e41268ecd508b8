"""Extracts the strings that the sources mark for translation.

Python is parsed, templates are read by Django, and scripts are searched for the calls of `frontend/src/core/i18n.js`.
Names and descriptions in the catalogue are data, and are all translated, as are the texts of the shipped policies.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation.template import templatize

from policies.names import PUBLISHED, training_data
from simulation import catalogue

ROOMS = (
    *(
        "vlaarena",
        "exports",
        "studies",
        "people",
        "robots",
        "texts",
        "voice",
        "community",
        "wormarena",
        "rankings",
        "arena",
        "policies",
        "simulation",
    ),
)
CALLS = {
    "gettext": ("text",),
    "gettext_lazy": ("text",),
    "gettext_noop": ("text",),
    "_": ("text",),
    "ngettext": ("text", "plural"),
    "ngettext_lazy": ("text", "plural"),
    "pgettext": ("context", "text"),
    "pgettext_lazy": ("context", "text"),
}
TEMPLATE_CALL = re.compile(r"(?<![A-Za-z_])(gettext|ngettext|pgettext|_)\((?=u?[\"'])")
SCRIPT_CALL = re.compile(r"(?<![A-Za-z_.#$])(gettext|ngettext|pgettext)\(\s*(?=\")")
COLUMNS = ("description", "provenance", "training_data")
TOLD_WITH_THE_VOTE = COLUMNS[1:]
"""Columns that the API leaves in English and the scripts translate."""
LITERAL = re.compile(r"\s*(u?(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'))\s*,?", re.DOTALL)


@dataclass(frozen=True, order=True)
class Message:
    """The key of a string in gettext. `plural` is empty if there is only one form."""

    text: str
    plural: str = ""
    context: str = ""


def of_pages(root: Path) -> dict[Message, str]:
    """The domain `django`: string of the server -> the first file with it. The admin's pages are not translated."""
    found: dict[Message, str] = {}
    code = [path for room in ROOMS for path in (root / room).rglob("*.py")]
    rooms = [path for path in code if "admin" not in path.name and path.parent.name != "admin"]
    for path in sorted(rooms):
        _note(found, _in_python(path.read_text(encoding="utf-8")), path.relative_to(root))
    templates = [root / "templates", *(root / room / "templates" for room in ROOMS)]
    pages = [path for folder in templates for path in folder.rglob("*.*") if _is_page(path)]
    for path in sorted(pages):
        # Django turns a template into something like Python that contains only the marked strings.
        _note(found, _in_calls(templatize(path.read_text(encoding="utf-8")), TEMPLATE_CALL), path.relative_to(root))
    _note(found, _in_catalogue(), Path("simulation/catalogue_data"))
    _note(found, _in_cards(root / "policies" / "weights"), Path("policies/weights"))
    return found


def _is_page(path: Path) -> bool:
    """Whether it is a template of a page or of a mail for visitors."""
    return path.suffix in (".html", ".txt") and "admin" not in path.parts


def of_scripts(root: Path) -> dict[Message, str]:
    """The domain `djangojs`: string of the scripts -> the first file with it."""
    found: dict[Message, str] = {}
    folder = root / "frontend" / "src"
    for path in sorted(folder.rglob("*.js")):
        _note(found, _in_calls(path.read_text(encoding="utf-8"), SCRIPT_CALL), path.relative_to(root))
    _note(found, _in_cards(root / "policies" / "weights", TOLD_WITH_THE_VOTE), Path("policies/weights"))
    return found


def _note(found: dict[Message, str], messages: Iterator[Message], path: Path) -> None:
    for message in messages:
        found.setdefault(message, path.as_posix())


def _in_python(source: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and (message := _of_call(node)):
            yield message


def _of_call(node: ast.Call) -> Message | None:
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    names = CALLS.get(name)
    if names is None or len(node.args) < len(names):
        return None
    values = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
    return Message(**dict(zip(names, values, strict=False))) if len(values) >= len(names) else None


def _in_calls(source: str, pattern: re.Pattern[str]) -> Iterator[Message]:
    for call in pattern.finditer(source):
        names, values = CALLS[call[1]], _literals(source, call.end())
        if len(values) >= len(names):
            yield Message(**dict(zip(names, values, strict=False)))


def _literals(source: str, at: int) -> list[str]:
    """The comma-separated string literals that begin at a position."""
    strings = []
    while match := LITERAL.match(source, at):
        strings.append(str(ast.literal_eval(match[1].replace("\n", "\\n"))))
        at = match.end()
    return strings


def _in_catalogue() -> Iterator[Message]:
    texts = [
        *((robot.name, robot.description) for robot in catalogue.robots()),
        *((scene.name, scene.description) for scene in catalogue.shipped_scenes()),
        *((task.name, task.description) for task in catalogue.tasks()),
    ]
    yield from (Message(text) for both in texts for text in both if text)


def _in_cards(weights: Path, columns: Sequence[str] = COLUMNS) -> Iterator[Message]:
    """What visitors read of the shipped policies, and of the published ones that operators may add."""
    cards = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(weights.glob("*/policy.json"))]
    shipped = [{**card, "training_data": training_data(card["training"])} for card in cards]
    for policy in (*shipped, *PUBLISHED.values()):
        yield from (Message(policy[column]) for column in columns if policy[column])
