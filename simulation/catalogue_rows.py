"""Reading the catalogue's YAML. Every field has the expected type, or the error names it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn, TypeVar, cast, get_type_hints

import yaml

from simulation.contracts import SimulationError

Row = Mapping[str, Any]
Read = TypeVar("Read")
LARGEST = 1_000_000
DEEPEST = 20
BOOL = "tag:yaml.org,2002:bool"


class CatalogueError(SimulationError, LookupError):
    """An unknown name, or an invalid catalogue."""


class Located(dict[str, Any]):
    """A mapping that knows where it was read: `source`, the line of its beginning, and that of each key."""

    source: str = ""
    line: int = 0
    lines: Mapping[str, int] = {}

    def place(self, key: str | None) -> str:
        return f"{self.source}:{self.lines.get(key or '', self.line)}: " if self.line else ""


def refuse(row: Row, key: str | None, message: str) -> NoReturn:
    """Raise CatalogueError with the message, and file and line of the key (None: of the whole row) where known."""
    raise CatalogueError(f"{row.place(key) if isinstance(row, Located) else ''}{message}")


def placed(row: Row, error: CatalogueError) -> CatalogueError:
    """The same error, with file and line of the row unless it has a place already."""
    if not isinstance(row, Located) or not row.line or str(error).startswith(f"{row.source}:"):
        return error
    return CatalogueError(f"{row.place(None)}{error}")


def read_rows(text: str, source: str) -> list[Row]:
    """The list of mappings in the text. `source`: its name, for errors.

    Aliases are refused, because a few lines of them can stand for more than fits into memory.
    """
    try:
        _check_events(text, source)
        rows = _load(text, source)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, ArithmeticError, AttributeError) as error:
        raise error if isinstance(error, CatalogueError) else CatalogueError(f"{source}: not YAML: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise CatalogueError(f"{source}: expected a list of mappings")
    return rows


def _load(text: str, source: str) -> Any:
    loader = _Loader(text)
    loader.source = source
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


_Safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The reader in C halves the time for the whole catalogue; it is missing where PyYAML was built without libyaml."""


class _Loader(_Safe):
    source = ""

    def located(self, node: yaml.MappingNode) -> Iterator[Located]:
        row = Located()
        yield row
        row.update(cast(dict[str, Any], self.construct_mapping(node)))
        row.source, row.line = self.source, node.start_mark.line + 1
        row.lines = {key.value: key.start_mark.line + 1 for key, _ in node.value if isinstance(key.value, str)}


_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.located)
# `on` and `off` are words here; only `true` and `false` are truth values.
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != BOOL]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(BOOL, re.compile("true|false"), ["t", "f"])


def _check_events(text: str, source: str) -> None:
    """Refuse aliases, and depths that would take too long to read, before anything is built."""
    depth = 0
    for event in yaml.parse(text, Loader=_Safe):
        if isinstance(event, yaml.AliasEvent):
            raise CatalogueError(f"{source}: aliases are not supported; write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise CatalogueError(f"{source}: nested deeper than {DEEPEST}")


def text_of(row: Row, name: str) -> str:
    """A text that is not empty."""
    value = _value(row, name)
    if not isinstance(value, str) or not value:
        refuse(row, name, f"{name}: expected a text, got {shown(value)}")
    return value


def texts_of(row: Row, name: str) -> tuple[str, ...]:
    value = _value(row, name)
    if not isinstance(value, list) or not all(isinstance(each, str) and each for each in value):
        refuse(row, name, f"{name}: expected a list of texts, got {shown(value)}")
    return tuple(value)


def count_of(row: Row, name: str) -> int:
    """A whole number, 1 or more."""
    value = _value(row, name)
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
        refuse(row, name, f"{name}: expected a whole number, 1..{LARGEST}, got {shown(value)}")
    return value


def amount_of(row: Row, name: str) -> float:
    """A number above 0."""
    value = _value(row, name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= LARGEST:
        refuse(row, name, f"{name}: expected a number over 0, got {shown(value)}")
    return value


def flag_of(row: Row, name: str) -> bool:
    """True or false."""
    value = _value(row, name)
    if not isinstance(value, bool):
        refuse(row, name, f"{name}: expected true or false, got {shown(value)}")
    return value


def mapping_of(row: Row, name: str) -> Row:
    value = _value(row, name)
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        refuse(row, name, f"{name}: expected a mapping, got {shown(value)}")
    return value


def rows_of(row: Row, name: str) -> list[Row]:
    """A list of mappings, at least one."""
    value = _value(row, name)
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) for each in value):
        refuse(row, name, f"{name}: expected a list of mappings, got {shown(value)}")
    return value


_READERS = {str: text_of, tuple[str, ...]: texts_of, int: count_of, float: amount_of, bool: flag_of, Row: mapping_of}


def read_as(kind: type[Read], row: Row, **known: Any) -> Read:
    """A dataclass with the fields that are `known`, and all others as the row has them, each of its field's type."""
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in known}
    return kind(**known, **{name: _READERS[hint](row, name) for name, hint in hints.items()})


def _value(row: Row, name: str) -> Any:
    if name not in row:
        refuse(row, None, f"{name} is missing; there is {', '.join(map(str, row)) or 'nothing'}")
    return row[name]


def shown(value: Any) -> str:
    """A short form of any value."""
    shown = f"{type(value).__name__} {value!r}" if value is None or isinstance(value, str | int | float) else ""
    return shown[:80] or type(value).__name__
