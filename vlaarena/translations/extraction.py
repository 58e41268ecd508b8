"""Every string that people see, as the sources mark it.

Python is read as a tree, templates by Django's own reader, scripts by the calls of `frontend/src/core/i18n.js`. Names
and descriptions in the catalogue are data and are taken as they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.utils.translation.template import templatize

from simulation import catalogue

ROOMS = ("vlaarena", "robots", "rankings", "arena", "policies", "simulation")
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
SCRIPT_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


@dataclass(frozen=True, order=True)
class Message:
    """What gettext knows a string by. `plural` is empty where there is one form only."""

    text: str
    plural: str = ""
    context: str = ""


def of_pages(root: Path) -> dict[Message, str]:
    """The domain `django`: what the server writes, with the file that says it first. Moderators' pages are English."""
    found: dict[Message, str] = {}
    code = [path for room in ROOMS for path in (root / room).rglob("*.py")]
    rooms = [path for path in code if "admin" not in path.name and path.parent.name != "admin"]
    for path in sorted(rooms):
        _note(found, _in_python(path.read_text(encoding="utf-8")), path.relative_to(root))
    templates = [root / "templates", *(root / room / "templates" for room in ROOMS)]
    pages = [path for folder in templates for path in folder.rglob("*.html") if "admin" not in path.parts]
    for path in sorted(pages):
        _note(found, _in_template(path.read_text(encoding="utf-8")), path.relative_to(root))
    _note(found, _in_catalogue(), Path("simulation/catalogue_data"))
    return found


def of_scripts(root: Path) -> dict[Message, str]:
    """The domain `djangojs`: what the browser writes."""
    found: dict[Message, str] = {}
    folder = root / "frontend" / "src"
    for path in sorted(folder.rglob("*.js")):
        _note(found, _in_script(path.read_text(encoding="utf-8")), path.relative_to(root))
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


def _in_template(source: str) -> Iterator[Message]:
    """Django turns a template into something like Python in which only the marked strings are left."""
    read: str = templatize(source)
    for call in TEMPLATE_CALL.finditer(read):
        yield Message(**dict(zip(CALLS[call[1]], _python_strings(read, call.end()), strict=False)))


def _python_strings(source: str, at: int) -> list[str]:
    """The literals that follow one another, parted by commas."""
    strings = []
    literal = re.compile(r"\s*(u?(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'))\s*,?", re.DOTALL)
    while match := literal.match(source, at):
        strings.append(str(ast.literal_eval(match[1].replace("\n", "\\n"))))
        at = match.end()
    return strings


def _in_script(source: str) -> Iterator[Message]:
    for call in SCRIPT_CALL.finditer(source):
        names = CALLS[call[1]]
        values, at = [], call.end()
        for _ in names:
            literal = SCRIPT_STRING.match(source, at)
            if literal is None:
                break
            values.append(str(ast.literal_eval(literal[0])))
            at = re.compile(r"\s*,?\s*").match(source, literal.end()).end()  # type: ignore[union-attr]
        if len(values) == len(names):
            yield Message(**dict(zip(names, values, strict=True)))


def _in_catalogue() -> Iterator[Message]:
    texts = [
        *((robot.name, robot.description) for robot in catalogue.robots()),
        *((scene.name, scene.description) for scene in catalogue.scenes()),
        *((task.name, task.description) for task in catalogue.tasks()),
    ]
    yield from (Message(text) for both in texts for text in both if text)
