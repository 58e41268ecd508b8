"""Reading the catalogue's YAML. Every field has the expected type, or the error names it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, get_type_hints

import yaml

from simulation.contracts import SimulationError

Row = Mapping[str, Any]
Read = TypeVar("Read")
LARGEST = 1_000_000
DEEPEST = 20


class CatalogueError(SimulationError, LookupError):
    """An unknown name, or an invalid catalogue."""


def read_rows(text: str, source: str) -> list[Row]:
    """The list of mappings in the text. `source`: its name, for errors.

    Aliases are refused, because a few lines of them can stand for more than fits into memory.
    """
    try:
        _check_events(text, source)
        rows = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise error if isinstance(error, CatalogueError) else CatalogueError(f"{source}: not YAML: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise CatalogueError(f"{source}: expected a list of mappings")
    return rows


def _check_events(text: str, source: str) -> None:
    """Refuse aliases, and depths that would take too long to read, before anything is built."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise CatalogueError(f"{source}: aliases are not supported; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise CatalogueError(f"{source}: nested deeper than {DEEPEST}")


def text_of(row: Row, name: str) -> str:
    """A text that is not empty."""
    value = _value(row, name)
    if not isinstance(value, str) or not value:
        raise CatalogueError(f"{name}: expected a text, got {_shown(value)}")
    return value


def texts_of(row: Row, name: str) -> tuple[str, ...]:
    value = _value(row, name)
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        raise CatalogueError(f"{name}: expected a list of texts, got {_shown(value)}")
    return tuple(value)


def count_of(row: Row, name: str) -> int:
    """A whole number, 1 or more."""
    value = _value(row, name)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
        raise CatalogueError(f"{name}: expected a whole number, 1..{LARGEST}, got {_shown(value)}")
    return value


def amount_of(row: Row, name: str) -> float:
    """A number above 0."""
    value = _value(row, name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= LARGEST:
        raise CatalogueError(f"{name}: expected a number over 0, got {_shown(value)}")
    return value


def mapping_of(row: Row, name: str) -> Row:
    value = _value(row, name)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise CatalogueError(f"{name}: expected a mapping, got {_shown(value)}")
    return value


def rows_of(row: Row, name: str) -> list[Row]:
    """A list of mappings, at least one."""
    value = _value(row, name)
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) for each in value):
        raise CatalogueError(f"{name}: expected a list of mappings, got {_shown(value)}")
    return value


_READERS = {str: text_of, tuple[str, ...]: texts_of, int: count_of, float: amount_of, Row: mapping_of}


def read_as(kind: type[Read], row: Row, **known: Any) -> Read:
    """A dataclass with the fields that are `known`, and all others as the row has them, each of its field's type."""
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in known}
    return kind(**known, **{name: _READERS[hint](row, name) for name, hint in hints.items()})


def _value(row: Row, name: str) -> Any:
    if name not in row:
        raise CatalogueError(f"{name} is missing; there is {', '.join(map(str, row)) or 'nothing'}")
    return row[name]


def _shown(value: Any) -> str:
    """A short form of any value."""
    shown = f"{type(value).__name__} {value!r}" if value is None or isinstance(value, str | int | float) else ""
    return shown[:80] or type(value).__name__
