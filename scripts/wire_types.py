#!/usr/bin/env python
"""Writes the JSON shapes of the API and its events as TypeScript, for the type checks of the front end.

With --check it writes nothing, and fails if the file differs from the declarations in Python.
"""

import os
import sys
import types
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from typing_extensions import is_typeddict

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
sys.path.insert(0, str(ROOT))

import django  # noqa: E402

django.setup()

from arena import shapes  # noqa: E402
from arena.live import events  # noqa: E402
from arena.queue import admission as queue  # noqa: E402
from rankings.api import after_vote  # noqa: E402
from robots import shapes as robots  # noqa: E402

MODULES = (shapes, events, queue, after_vote, robots)
TARGET = ROOT / "frontend" / "src" / "core" / "wire.d.ts"
HEAD = "// The JSON that the arena sends: written by scripts/wire_types.py, described where Python declares it."
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", types.NoneType: "null", Any: "unknown"}


def name_in_typescript(shape: Any) -> str:
    """A type in TypeScript; a TypedDict by its name."""
    origin, args = get_origin(shape), get_args(shape)
    if is_typeddict(shape):
        return str(shape.__name__)
    if origin is NotRequired:
        return name_in_typescript(args[0])
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in args)
    if origin is dict:
        return f"Record<string, {name_in_typescript(args[1])}>"
    if origin in (Union, types.UnionType):
        return " | ".join(name_in_typescript(each) for each in args)
    if origin is list:
        return f"Array<{name_in_typescript(args[0])}>"
    return PLAIN[shape]


def interface(shape: Any, event_type: str | None) -> str:
    fields = {"type": Literal[event_type]} if event_type else {}
    fields = get_type_hints(shape) | fields
    optional = shape.__optional_keys__
    lines = [f"  {name}{'?' if name in optional else ''}: {name_in_typescript(each)};" for name, each in fields.items()]
    return "\n".join([f"export interface {shape.__name__} {{", *lines, "}"])


def declarations() -> str:
    event_types = {shape.__name__: name for name, shape in events.EVENTS.items()}
    names = {module.__name__ for module in MODULES}
    declared = [shape for module in MODULES for shape in vars(module).values() if is_typeddict(shape)]
    found = {shape.__name__: shape for shape in declared if shape.__module__ in names}
    interfaces = [interface(shape, event_types.get(name)) for name, shape in found.items()]
    battle_event = f"export type BattleEvent = {' | '.join(event_types)};"
    return "\n\n".join([HEAD, *interfaces, battle_event]) + "\n"


def main() -> None:
    if "--check" not in sys.argv:
        TARGET.write_text(declarations(), "utf-8")
    elif TARGET.read_text("utf-8") != declarations():
        sys.exit("frontend/src/core/wire.d.ts is not what arena declares; run scripts/wire_types.py")


if __name__ == "__main__":
    main()
