"""Finding and checking the statistics of a data set, which turn a network's actions into metres and radians."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.base import MissingStatistics
from simulation.contracts import Floats


def choose(content: Mapping[str, Any], asked: str | None, default: str) -> tuple[str, Mapping[str, Any]]:
    """One data set's key and its `action` numbers: of the data set `asked` for, else of the default, else of the only
    one. A fine-tune may hold the numbers of one data set at the top level, whose key is "".

    Raises MissingStatistics listing the known keys.
    """
    if not isinstance(content, Mapping):
        raise MissingStatistics(f"statistics: expected data sets by name, got {type(content).__name__}")
    only = content.get("action")
    if isinstance(only, Mapping) and "mean" in only:
        if asked is not None:
            raise MissingStatistics(f"statistics key {asked!r} was asked for, but there is one data set without a key")
        return "", only
    known = sorted(content)
    key = asked or (known[0] if default not in content and len(known) == 1 else default)
    if key not in content:
        raise MissingStatistics(f"statistics key {key!r} is missing; known: {', '.join(known) or 'none'}")
    chosen = content[key]
    if not isinstance(chosen, Mapping) or not isinstance(chosen.get("action"), Mapping):
        raise MissingStatistics(f"statistics {key!r}: action is missing")
    return key, chosen["action"]


def vector(action: Mapping[str, Any], name: str, length: int) -> Floats:
    """action.`name` as an array of `length` finite numbers. Raises MissingStatistics."""
    if name not in action:
        raise MissingStatistics(f"statistics: action.{name} is missing")
    return finite(action[name], f"statistics: action.{name}", length)


def finite(numbers: Any, where: str, length: int) -> Floats:
    """A list of `length` finite numbers as an array. Raises MissingStatistics that begins with `where`."""
    try:
        values = np.asarray(numbers, np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(0)
    if values.shape != (length,) or not np.isfinite(values).all():
        raise MissingStatistics(f"{where} must be {length} finite numbers")
    return values


def mask(action: Mapping[str, Any], length: int) -> NDArray[np.bool_]:
    """Which dimensions are normalised; all of them where the file has no mask."""
    values = action.get("mask", [True] * length)
    if not isinstance(values, list) or len(values) != length or not all(isinstance(value, bool) for value in values):
        raise MissingStatistics(f"statistics: action.mask must be {length} times true or false")
    return np.array(values, np.bool_)
