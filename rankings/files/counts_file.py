"""All counts as one anonymous CSV file, with equal bytes for equal counts. No Django."""

from __future__ import annotations

import csv
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankings.tally.arrays import Integers, starts_of_runs
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import FILE_KEYS, KEYS, VoteTable

COLUMNS = (*FILE_KEYS, "trust", *OUTCOMES)
CHUNK = 50_000
"""Rows written at a time."""
GZIP = 16 + zlib.MAX_WBITS
"""Makes zlib write gzip's header, without a time stamp, so that equal counts give equal files."""


class CountsFile(NamedTuple):
    """`content`: gzipped. `input_hash`: hexadecimal SHA-256 of the unpacked content."""

    content: bytes
    input_hash: str


def write_counts(table: VoteTable) -> CountsFile:
    """The rows of a table that have a count."""
    squeeze, seen, content = zlib.compressobj(6, wbits=GZIP), hashlib.sha256(), io.BytesIO()
    for part in parts(table):
        seen.update(part)
        content.write(squeeze.compress(part))
    content.write(squeeze.flush())
    return CountsFile(content.getvalue(), seen.hexdigest())


def parts(table: VoteTable) -> Iterator[bytes]:
    """The unpacked content, CHUNK rows at a time, sorted as texts. Voters are numbered "v1", "v2", ... (empty:
    unknown), and networks that several of them share "n000001", ... `trust`: the weight of a voter's votes."""
    yield lines([COLUMNS])
    columns = {key: (table.values[key], table.codes[key]) for key in KEYS} | table.visit_columns()
    columns["voter"] = (numbered(table.values["voter"]), table.codes["voter"])
    with_votes = np.flatnonzero(table.outcomes.any(axis=1))
    places = [in_order_of_texts(*columns[key])[with_votes] for key in KEYS]
    order = with_votes[_in_order(places, table.outcomes[with_votes])]
    for first in range(0, len(order), CHUNK):
        rows = order[first : first + CHUNK]
        some = [(columns[key][0], columns[key][1][rows]) for key in (*KEYS, "trust")]
        yield coded_lines(some, table.outcomes[rows].T)


def _in_order(places: Sequence[Integers], outcomes: Integers) -> Integers:
    """(rows,) by the keys, then by outcomes: a voter with several networks may have several rows with equal keys."""
    order = sorting(places)
    are_different = len(starts_of_runs(*(column[order] for column in places))) == len(order)
    return order if are_different else sorting([*places, *outcomes.T])


def coded_lines(
    columns: Sequence[tuple[Sequence[str], Integers]], numbers: Sequence[Integers] | Integers = ()
) -> bytes:
    """CSV of columns of texts, each as its values and (rows,) places in them, then columns (rows,) of numbers."""
    import pyarrow as pa  # which the web does not need
    import pyarrow.csv

    texts = [pa.array(values, pa.string()).take(pa.array(places)) for values, places in columns]
    whole = pa.table([*texts, *map(pa.array, numbers)], [str(number) for number in range(len(texts) + len(numbers))])
    out = pa.BufferOutputStream()
    try:
        pyarrow.csv.write_csv(whole, out, pyarrow.csv.WriteOptions(include_header=False, quoting_style="none"))
    except pa.ArrowInvalid:  # a value needs quotes
        return lines(zip(*(column.to_pylist() for column in whole.columns), strict=True))
    return bytes(out.getvalue())


def lines(rows: Iterable[Sequence[object]]) -> bytes:
    """CSV of these rows."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def sorting(columns: Sequence[Integers]) -> Integers:
    """(rows,) the stable order of rows by columns (rows,) of numbers from 0."""
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > 63:
        return np.lexsort(columns[::-1])
    key = np.zeros(len(columns[0]), np.int64)
    for column, width in zip(columns, widths, strict=True):
        key = key << width | column
    return np.argsort(key, kind="stable")


def numbered(voters: Sequence[str]) -> list[str]:
    """Anonymous names of sorted, different ids, by place. Ids are random, so numbers differ from file to file."""
    start = 0 if "" in voters else 1
    return [f"v{place}" if voter else "" for place, voter in enumerate(voters, start)]


def in_order_of_texts(values: Sequence[str], codes: Integers) -> Integers:
    """(rows,) numbers that sort as the texts `values[code]` do."""
    place = np.empty(len(values), np.int64)
    place[sorted(range(len(values)), key=values.__getitem__)] = np.arange(len(values))
    return place[codes]
