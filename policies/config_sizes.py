"""Checking a network's sizes from a file before anything is built from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from policies.base import BadCard

MOST = 1 << 20
MOST_REPEATS = 1000
REPEATS = ("layers", "depth", "blocks", "registers")
"""Sizes that count modules. Each of the others is a length of a tensor."""


def check_sizes(config: Any, where: str) -> None:
    """Raise BadCard unless every field of a configuration, nested ones included, has its declared type and a number
    is within bounds. `where`: the file, for the message.
    """
    for name, hint, value in _leaves(config):
        if not _fits(value, hint):
            raise BadCard(f"{where}: {name}: expected {getattr(hint, '__name__', hint)}, got {value!r}")
        most = MOST_REPEATS if name in REPEATS else MOST
        if isinstance(value, int | float) and not 0 <= value <= most:
            raise BadCard(f"{where}: {name}: expected 0..{most}, got {value!r}")


def _leaves(config: Any) -> Iterator[tuple[str, Any, Any]]:
    """(field, declared type, value) of every field that is not itself a configuration."""
    hints = get_type_hints(type(config))
    for field in fields(config):
        value, hint = getattr(config, field.name), hints[field.name]
        parts: list[Any] = [value]
        if get_origin(hint) is tuple:
            parts, hint = list(value), get_args(hint)[0]
        elif isinstance(value, Mapping) and get_origin(hint) in (dict, Mapping):
            parts, hint = list(value.values()), get_args(hint)[1]
        for part in parts:
            if is_dataclass(part):
                yield from _leaves(part)
            else:
                yield field.name, hint, part


def _fits(value: Any, hint: Any) -> bool:
    kinds = get_args(hint) or (hint,)
    if isinstance(value, bool):
        return bool in kinds
    return isinstance(value, kinds) or (float in kinds and isinstance(value, int))
