"""The types of arrays that figures are made of, columns kept small, and runs of equal rows in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Narrow = NDArray[Any]
"""Whole numbers in the smallest type that holds them. Sums and products in that type may overflow."""
TYPES = (np.int8, np.int16, np.int32)
"""Smaller than int64, the smallest first."""
CHUNK = 1 << 20
"""Rows that are computed with at a time, so that what is computed of many rows is never all in memory."""
DENSE = 4
"""Places are looked up in a table where it has at most so many entries per row, ..."""
FEW = 1_000_000
"""... or at most so many in all."""


def narrowed(column: Narrow) -> Narrow:
    """The same whole numbers in the smallest type that holds them; columns (rows, n) lie column by column."""
    low, high = int(column.min(initial=0)), int(column.max(initial=0))
    small = (kind for kind in TYPES if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return column.astype(next(small, np.int64), order="F", copy=False)


class Column:
    """A field of a frozen dataclass: whole numbers, kept narrowed. Read, it is a copy as int64, safe to compute with;
    `kept` gives it as it lies, to select rows of it or to compare it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Column: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Integers: ...
    def __get__(self, instance: object | None, owner: type) -> Column | Integers:
        if instance is None:
            raise AttributeError(f"{self._name} has no default")  # as dataclasses ask for one
        found: Integers = kept(instance, self._name).astype(np.int64)
        return found

    def __set__(self, instance: object, column: Narrow) -> None:
        vars(instance)[self._name] = narrowed(column)


def kept(instance: object, name: str) -> Narrow:
    """A `Column` as it lies."""
    found: Narrow = vars(instance)[name]
    return found


def replaced(instance: T, **changes: Any) -> T:
    """As `dataclasses.replace`, for a dataclass with fields of `Column`: those that stay are shared, not copied."""
    found = object.__new__(type(instance))
    vars(found).update({each.name: vars(instance)[each.name] for each in fields(instance)})  # type: ignore[arg-type]
    for name, value in changes.items():
        object.__setattr__(found, name, value)
    return found


class Codes(dict[str, Narrow]):
    """Columns by name, kept narrowed. `codes[name]` is a copy as int64, safe to compute with; `kept` gives a column as
    it lies, and so do `items` and `values`."""

    def __init__(self, columns: Mapping[str, Narrow] | Iterable[tuple[str, Narrow]]) -> None:
        super().__init__((name, narrowed(column)) for name, column in dict(columns).items())

    def __getitem__(self, name: str) -> Integers:
        found: Integers = super().__getitem__(name).astype(np.int64)
        return found

    def kept(self, name: str) -> Narrow:
        return super().__getitem__(name)


def chunks(rows: int) -> Iterator[slice]:
    """CHUNK rows at a time, and one empty chunk where there are none."""
    return (slice(first, min(first + CHUNK, rows)) for first in range(0, max(rows, 1), CHUNK))


def begins_run(*columns: Narrow) -> Booleans:
    """(rows,) whether a row begins a run of equal rows, of columns (rows,)."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def starts_of_runs(*columns: Narrow) -> Integers:
    """(runs,) the first row of each run of equal rows, of columns (rows,)."""
    return np.flatnonzero(begins_run(*columns))


def is_sorted(column: Narrow) -> bool:
    return not (column[1:] < column[:-1]).any()


def distinct(column: Narrow) -> tuple[Integers, Narrow]:
    """The different values, sorted, and (rows,) each row's place among them: quickly where the column is sorted, or
    holds numbers from 0 that are not much larger than it is long."""
    if is_sorted(column):
        new = begins_run(column)
        places: Narrow = np.cumsum(new, dtype=np.int32 if len(column) < np.iinfo(np.int32).max else np.int64)
        places -= 1
        return column[new].astype(np.int64, copy=False), places
    if column.min() >= 0 and int(column.max()) < max(FEW, DENSE * len(column)):
        present = np.zeros(int(column.max()) + 1, dtype=bool)
        present[column] = True
        return np.flatnonzero(present), (np.cumsum(present) - 1)[column]
    values, places = np.unique(column, return_inverse=True)
    return values.astype(np.int64, copy=False), places
