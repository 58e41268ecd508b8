"""Votes of a Parquet file: quickly by columns, or row by row. No Django.

Kept apart, for this part of pyarrow takes long to load.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from rankings.files.arrow import Coded, NotPlain, check_battles, coded

BYTES = (pa.binary(), pa.large_binary())


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


def read(path: Path, wanted: list[str], nameless: Collection[str]) -> dict[str, Coded]:
    """Column -> (rows,) places in its sorted values, and these. Each battle_id must be another, and none `nameless`.

    Raises NotPlain, NotParquet and OSError.
    """
    with _readable():
        found = pyarrow.parquet.read_table(path, columns=["battle_id", *wanted], read_dictionary=wanted)
        _check_found(found.column_names, ["battle_id", *wanted])
        if missing := [name for name in found.column_names if found.column(name).null_count]:
            raise NotPlain(f"column {missing[0]} has empty values")
        if other := [name for name in wanted if not _is_coded_text(found.column(name).type)]:
            raise NotPlain(f"column {other[0]} holds no text")
        if found.column("battle_id").type in BYTES:
            raise NotPlain("column battle_id holds bytes")
        check_battles(found.column("battle_id").cast(pa.string()), nameless)
        return {name: coded(found.column(name)) for name in wanted}


def rows(path: Path, columns: Collection[str]) -> Iterator[Mapping[str, str]]:
    """One by one; empty values are empty texts. Raises NotParquet and OSError."""
    with _readable(), pyarrow.parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=list(columns)):
            _check_found(batch.schema.names, columns)
            for row in batch.to_pylist():
                yield {name: _text(name, value) for name, value in row.items()}


def _text(name: str, value: object) -> str:
    if isinstance(value, bytes):
        raise NotParquet(f"column {name} holds bytes; expected text")
    return "" if value is None else str(value).strip()


def _check_found(names: Collection[str], wanted: Collection[str]) -> None:
    """What a damaged file says of its columns may be one thing in one place and another in the next."""
    if sorted(names) != sorted(wanted):
        raise NotParquet(f"its columns {', '.join(wanted)} read as {', '.join(names) or 'nothing'}")


def _is_coded_text(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) and kind.value_type in (pa.string(), pa.large_string())
