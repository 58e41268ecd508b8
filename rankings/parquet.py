"""Votes of a Parquet file: quickly by columns, or row by row. No Django.

Kept apart, for pyarrow takes longer to load than a CSV file of a million votes to read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from rankings.counts import Integers
from rankings.plain_csv import NotPlain


class NotParquet(ValueError):
    """What pyarrow says about a file that it cannot read."""


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except pa.ArrowException as error:
        raise NotParquet(str(error)) from None
    except OSError as error:
        if error.errno is not None:  # the system's, not what pyarrow says of a damaged page
            raise
        raise NotParquet(str(error)) from None


def names(path: Path) -> list[str]:
    """Of all columns. Raises NotParquet and OSError."""
    with _readable():
        return list(pyarrow.parquet.read_schema(path).names)


def read(path: Path, wanted: list[str], nameless: Collection[str]) -> dict[str, tuple[Integers, list[str]]]:
    """Column -> (rows,) places in its sorted values, and these. Each battle_id must be another, and none `nameless`.

    Raises NotPlain, NotParquet and OSError.
    """
    with _readable():
        found = pyarrow.parquet.read_table(path, columns=["battle_id", *wanted], read_dictionary=wanted)
        if missing := [name for name in found.column_names if found.column(name).null_count]:
            raise NotPlain(f"column {missing[0]} has empty values")
        if other := [name for name in wanted if not pa.types.is_dictionary(found.column(name).type)]:
            raise NotPlain(f"column {other[0]} holds no text")
        _check_battles(found.column("battle_id"), nameless)
        return {name: _coded(found.column(name)) for name in wanted}


def rows(path: Path, columns: Collection[str]) -> Iterator[Mapping[str, str]]:
    """One by one; empty values are empty texts. Raises NotParquet and OSError."""
    with _readable(), pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=list(columns)):
            for row in batch.to_pylist():
                yield {name: "" if value is None else str(value).strip() for name, value in row.items()}


def _check_battles(battles: pa.ChunkedArray, nameless: Collection[str]) -> None:
    if pc.count_distinct(battles).as_py() < len(battles):
        raise NotPlain("a battle was voted on twice")
    if pc.any(pc.is_in(pc.utf8_lower(battles), pa.array(sorted(nameless)))).as_py():
        raise NotPlain("a battle_id is empty")
    if pc.any(pc.match_substring_regex(battles, r"^\s|\s$")).as_py():
        raise NotPlain("a battle_id stands between blanks")


def _coded(column: pa.ChunkedArray) -> tuple[Integers, list[str]]:
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0) if whole.num_chunks else pa.array([], pa.dictionary(pa.int32(), pa.string()))
    texts = whole.dictionary.to_pylist()
    values = sorted({text.strip() for text in texts})
    place = {text: number for number, text in enumerate(values)}
    renumber = np.array([place[text.strip()] for text in texts], dtype=np.int64)
    codes: Integers = renumber[whole.indices.to_numpy(zero_copy_only=False)]
    return codes, values
