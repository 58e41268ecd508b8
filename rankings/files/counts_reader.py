"""Reading a counts file of a publication (`counts_file.write_counts`) back into a table. No Django."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

from rankings.files.counts_file import COLUMNS
from rankings.files.weights import trust_of
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import KEYS, VoteTable

VOTER, TRUST = COLUMNS.index("voter"), COLUMNS.index("trust")
LARGEST = 4 << 30
"""Bytes, unpacked."""


class CountsFileError(ValueError):
    """A file that is no counts file."""


def unpacked(content: bytes) -> bytes:
    """The CSV of a gzipped counts file, whose SHA-256 is the publication's input hash. Raises CountsFileError."""
    try:
        with gzip.open(io.BytesIO(content)) as file:
            found = file.read(LARGEST + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise CountsFileError(f"expected a gzipped CSV file: {error}") from None
    if len(found) > LARGEST:
        raise CountsFileError(f"it unpacks to more than {LARGEST} bytes")
    return found


def read_counts(text: bytes) -> VoteTable:
    """The table of an unpacked counts file: each row with its voter's trust. Raises CountsFileError with the line.

    Voters keep the order of their numbers, so that sums are formed in the order in which the publication formed them.
    """
    try:
        lines = csv.reader(io.StringIO(text.decode(), newline=""), strict=True)
        header = next(lines, [])
        if tuple(header) != COLUMNS:
            raise CountsFileError(f"line 1: columns {', '.join(header)}; expected {', '.join(COLUMNS)}")
        rows = list(_checked(lines))
    except (UnicodeDecodeError, csv.Error) as error:
        raise CountsFileError(f"expected CSV in UTF-8: {error}") from None
    width = max((len(row[VOTER]) for row in rows), default=1)
    table = VoteTable.of(
        (*row[:VOTER], row[VOTER] and row[VOTER][1:].zfill(width), *row[VOTER + 1 : len(KEYS)], *row[TRUST + 1 :])
        for row in rows
    )
    return VoteTable(table.values, table.codes, table.outcomes, np.array([float(row[TRUST]) for row in rows]))


def _checked(lines: Iterator[Sequence[str]]) -> Iterator[Sequence[str]]:
    for number, row in enumerate(lines, 2):
        if len(row) != len(COLUMNS):
            raise CountsFileError(f"line {number}: {len(row)} values; expected {len(COLUMNS)}")
        if row[VOTER] and not (row[VOTER][0] == "v" and row[VOTER][1:].isdecimal()):
            raise CountsFileError(f"line {number}: voter {row[VOTER]!r}; expected v and a number, or nothing")
        if not row[TRUST] or trust_of(row[TRUST]) is None:
            raise CountsFileError(f"line {number}: trust {row[TRUST]!r}; expected a number above 0 and at most 1")
        for name, value in zip(OUTCOMES, row[-len(OUTCOMES) :], strict=True):
            if not value.isdecimal() or len(value) > 9:
                raise CountsFileError(f"line {number}: {name} {value!r}; expected a number of votes")
        yield row
