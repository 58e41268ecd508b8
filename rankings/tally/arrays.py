"""The types of arrays that figures are made of, columns kept small, and runs of equal rows in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
S = TypeVar("S", bound=np.generic)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
Narrow = NDArray[Any]
"""Whole numbers in the smallest type that holds them. Sums and products in that type may overflow."""
TYPES = (np.int8, np.int16, np.int32)
"""Smaller than int64, the smallest first."""
CHUNK = 1 << 18
"""Rows that are computed with at a time, so that what is computed of many rows is never all in memory."""
DENSE = 4
"""Places are looked up in a table where it has at most so many entries per row, ..."""
FEW = 1_000_000
"""... or at most so many in all."""


def narrowed(column: Narrow) -> Narrow:
    """The same whole numbers in the smallest type that holds them; columns (rows, n) lie column by column."""
    if column.dtype == TYPES[0]:
        return column.astype(TYPES[0], order="F", copy=False)
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


class Levels:
    """A field of a frozen dataclass: numbers of which few differ, kept as the different ones and each row's place among
    them. Read, it is a copy (rows,)."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Levels: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Floats: ...
    def __get__(self, instance: object | None, owner: type) -> Levels | Floats:
        if instance is None:
            raise AttributeError(f"{self._name} has no default")
        different, places = vars(instance)[self._name]
        found: Floats = taken(different, places)
        return found

    def __set__(self, instance: object, column: Floats) -> None:
        vars(instance)[self._name] = _levels(column)


class LevelsOrNone(Levels):
    """The same, or None, which is its default."""

    @overload  # type: ignore[override]
    def __get__(self, instance: None, owner: type) -> None: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Floats | None: ...
    def __get__(self, instance: object | None, owner: type) -> Floats | None:
        if instance is None or vars(instance)[self._name] is None:
            return None
        return super().__get__(instance, owner)

    def __set__(self, instance: object, column: Floats | None) -> None:
        vars(instance)[self._name] = None if column is None else _levels(column)


def levels_at(instance: object, name: str, places: Narrow | slice) -> Floats:
    """(n,) some of a field of `Levels`."""
    different, own = vars(instance)[name]
    return taken(different, own[places])


def _levels(column: Floats) -> tuple[Floats, Narrow]:
    """The different numbers, sorted, and (rows,) the place of each row's."""
    known = np.unique(np.concatenate([np.unique(column[rows]) for rows in chunks(len(column))]))
    return known, in_chunks(len(column), lambda rows: np.searchsorted(known, column[rows]))


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


def in_chunks(rows: int, of: Callable[[slice], Narrow]) -> Narrow:
    """(rows,) whole numbers that are computed CHUNK rows at a time, narrowed."""
    return np.concatenate([narrowed(of(some)) for some in chunks(rows)])


def taken(values: NDArray[S], places: Narrow) -> NDArray[S]:
    """`values[places]`, CHUNK rows at a time, since for that numpy makes places of 8 bytes of all of them."""
    found = np.empty(len(places), values.dtype)
    for rows in chunks(len(places)):
        found[rows] = values.take(places[rows])
    return found


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


def are_sorted(*columns: Narrow) -> bool:
    """Whether rows are sorted by the first column, then the second, ..."""
    equal = np.ones(max(0, len(columns[0]) - 1), dtype=bool)
    for column in columns:
        if (equal & (column[1:] < column[:-1])).any():
            return False
        equal &= column[1:] == column[:-1]
    return True


def selection(rows: Booleans) -> Booleans | slice:
    """What selects these rows (rows,): where it is all of them, a slice, which copies nothing."""
    return slice(None) if rows.all() else rows


def places_in(known: Narrow, wanted: Narrow) -> Integers:
    """(n,) the place of each of `wanted` (n,) in `known`, sorted; one past the last for others. Without a search where
    `wanted` is sorted and leaves none out between its ends."""
    if len(wanted) and is_sorted(wanted):
        begins, first = begins_run(wanted), int(np.searchsorted(known, wanted[0]))
        values = wanted[begins]
        if np.array_equal(known[first : first + len(values)], values):
            found: Integers = np.cumsum(begins)
            found += first - 1
            return found
    place = np.searchsorted(known, wanted)
    if len(known):
        place[known.take(place, mode="clip") != wanted] = len(known)
    return place


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
        return np.flatnonzero(present), narrowed(np.cumsum(present) - 1)[column]
    values, places = np.unique(column, return_inverse=True)
    return values.astype(np.int64, copy=False), places
