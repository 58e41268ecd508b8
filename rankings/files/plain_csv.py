"""A CSV file in which nothing is quoted, read in columns by pyarrow. No Django."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from rankings.files.arrow import Coded, NotPlain, check_battles, coded

BLOCK = 1 << 22
"""Bytes that one thread reads at a time; a longer line is not plain."""
QUOTE = ord('"')
GLANCE = 1 << 20
"""Bytes looked at together: what a processor keeps at hand."""


def read(path: Path, wanted: Callable[[list[str]], Sequence[str]], nameless: Collection[str]) -> dict[str, Coded]:
    """The columns that `wanted` picks from the names of all. Each battle_id must be another, and none `nameless`.

    Raises NotPlain, OSError and UnicodeDecodeError.
    """
    with path.open("rb") as file:
        first = file.readline().decode("utf-8-sig").rstrip("\r\n")
        if "\r" in first:
            raise NotPlain("lines end in different ways")
        names = [name.strip() for name in first.split(",")]
        columns = wanted(names)
        content = mmap(file.fileno(), 0, access=ACCESS_READ)
    _check_bytes(content)
    types = {"battle_id": pa.string()} | {name: pa.dictionary(pa.int32(), pa.string()) for name in columns}
    try:
        found = pyarrow.csv.read_csv(
            pa.BufferReader(pa.py_buffer(content)),
            pyarrow.csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK),
            pyarrow.csv.ParseOptions(quote_char=False),
            pyarrow.csv.ConvertOptions(include_columns=["battle_id", *columns], column_types=types),
        )
    except pa.ArrowException as error:
        raise NotPlain(str(error)) from None
    check_battles(found.column("battle_id"), nameless)
    return {name: coded(found.column(name)) for name in columns}


def _check_bytes(content: mmap) -> None:
    """Also those of columns that nobody wants: no quote, and UTF-8. Raises NotPlain and UnicodeDecodeError."""
    data, ascii_only = np.frombuffer(content, np.uint8), True
    for start in range(0, len(data), GLANCE):
        block = data[start : start + GLANCE]
        if (block == QUOTE).any():
            raise NotPlain("quoted values")
        ascii_only = ascii_only and block.max() < 0x80
    if not ascii_only:
        content[:].decode()
