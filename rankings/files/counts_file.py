"""All counts as one anonymous CSV file, with equal bytes for equal counts. No Django."""

from __future__ import annotations

import csv
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankings.tally.arrays import Narrow, is_sorted, kept, narrowed
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import FILE_KEYS, KEYS, VoteTable

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (*FILE_KEYS, "trust", *OUTCOMES)
CHUNK = 50_000
"""Rows written at a time."""
LEVEL = 4
"""Takes half of the time of 6, for 6 % more bytes."""
GZIP = 16 + zlib.MAX_WBITS
"""Makes zlib write gzip's header, without a time stamp, so that equal counts give equal files."""


class Coded(NamedTuple):
    """A column: its different `texts`, and (rows,) each row's place in them."""

    texts: pa.StringArray
    codes: Narrow


class CountsFile(NamedTuple):
    """`content`: gzipped. `input_hash`: hexadecimal SHA-256 of the unpacked content."""

    content: bytes
    input_hash: str


def write_counts(table: VoteTable) -> CountsFile:
    """The rows of a table that have a count."""
    squeeze, seen, content = zlib.compressobj(LEVEL, wbits=GZIP), hashlib.sha256(), io.BytesIO()
    for part in parts(table):
        seen.update(part)
        content.write(squeeze.compress(part))
    content.write(squeeze.flush())
    return CountsFile(content.getvalue(), seen.hexdigest())


def parts(table: VoteTable) -> Iterator[bytes]:
    """The unpacked content, CHUNK rows at a time, sorted as texts. Voters are numbered "v1", "v2", ... (empty:
    unknown), and networks that several of them share "n000001", ... `trust`: the weight of a voter's votes."""
    import pyarrow as pa  # which the web does not need

    yield lines([COLUMNS])
    known = {key: table.values[key] for key in KEYS if key not in ("voter", "network")}
    columns = {key: Coded(pa.array([*values], pa.string()), table.codes.kept(key)) for key, values in known.items()}
    columns["voter"] = Coded(numbered(table.values["voter"]), table.codes.kept("voter"))
    for key, (texts, codes) in table.visit_columns().items():
        columns[key] = Coded(pa.array(texts, pa.string()), codes)
    outcomes = kept(table, "outcomes")
    order = _in_order([columns[key] for key in KEYS], outcomes)
    for first in range(0, len(order), CHUNK):
        rows = order[first : first + CHUNK]
        some = [Coded(texts, codes.take(rows)) for texts, codes in (columns[key] for key in (*KEYS, "trust"))]
        yield coded_lines(some, [outcome.take(rows) for outcome in outcomes.T])


def _in_order(columns: Sequence[Coded], outcomes: Narrow) -> Narrow:
    """(rows,) those with votes, by the texts, then by outcomes: a voter with several networks may have several rows
    with equal keys."""
    places = [in_order_of_texts(column) for column in columns]
    with_votes = outcomes.any(axis=1)
    if not with_votes.all():
        places, outcomes = [column[with_votes] for column in places], outcomes[with_votes]
    order = sorting(places, several=outcomes.T)
    return order if with_votes.all() else np.flatnonzero(with_votes)[order]


def coded_lines(columns: Sequence[Coded], numbers: Sequence[Narrow] = ()) -> bytes:
    """CSV of columns of texts, then columns (rows,) of numbers."""
    import pyarrow as pa  # which the web does not need
    import pyarrow.csv

    texts = [values.take(pa.array(places)) for values, places in columns]
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


def sorting(columns: Sequence[Narrow], several: Sequence[Narrow] | Narrow = ()) -> Narrow:
    """(rows,) the order of rows by columns (rows,) of numbers from 0; by `several` too where some rows are equal."""
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > 63:
        return np.lexsort([*columns, *several][::-1])
    key = np.zeros(len(columns[0]), np.int64)
    for column, width in zip(columns, widths, strict=True):
        key <<= width
        key |= column
    order = narrowed(np.argsort(key))
    return _within_runs(order, key[order], several) if len(several) else order


def _within_runs(order: Narrow, key: Narrow, several: Sequence[Narrow] | Narrow) -> Narrow:
    """(rows,) the same order, but rows of equal keys by `several`. `key` (rows,): sorted."""
    equal = np.append(key[1:] == key[:-1], False)
    equal[1:] |= equal[:-1]  # each row of a run
    at = np.flatnonzero(equal)
    rows = order[at]
    order[at] = rows[np.lexsort([*(column[rows] for column in several[::-1]), key[at]])]
    return order


def numbered(voters: Sequence[str]) -> pa.StringArray:
    """Anonymous names of sorted, different ids, by place. Ids are random, so numbers differ from file to file."""
    import pyarrow as pa
    import pyarrow.compute as pc

    unknown = [""] if voters[:1] and not voters[0] else []
    numbers = pa.array(np.arange(1, len(voters) - len(unknown) + 1)).cast(pa.string())
    return pa.concat_arrays([pa.array(unknown, pa.string()), pc.binary_join_element_wise("v", numbers, "")])


def in_order_of_texts(column: Coded) -> Narrow:
    """(rows,) numbers that sort as the texts do, which are in the order of their UTF-8, as of their code points."""
    import pyarrow.compute as pc

    place = np.empty(len(column.texts), np.int64)
    place[np.from_dlpack(pc.array_sort_indices(column.texts))] = np.arange(len(place))
    return column.codes if is_sorted(place) else narrowed(place).take(column.codes)
