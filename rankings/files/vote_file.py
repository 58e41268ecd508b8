"""Votes from a CSV or Parquet file, read in columns: a million in a fraction of a second. No Django.

Whatever is wrong names its line and what would have been right. A CSV file with quotes is read by Python's csv, since
pyarrow takes broken ones for something else, and so is one that pyarrow refuses, which does not say where.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from rankings.files.arrow import TEXTS, Coded, coded
from rankings.tally.arrays import Integers
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import KEYS, VoteTable

BATTLE = "battle_id"
COLUMNS = (BATTLE, "voter_id", "robot", "left", "right", "vote")
OPTIONAL = ("scene", "task", "day", "network", "trust")
CALLED = {"setting": "robot", "voter": "voter_id"}
"""What a file calls those keys."""
NOT_A_NAME = {"", "nan", "null", "none", "na", "n/a"}
"""How missing values look after a trip through a spreadsheet or a data frame; compared in lower case."""
BLOCK = 1 << 22
"""Bytes that one thread reads at a time."""
GLANCE = 1 << 20
"""Bytes looked at together: what a processor keeps at hand."""
MASKS = np.array([(1 << 8 * kept) - 1 for kept in range(9)], dtype="<u8")
"""The first 0 to 8 bytes of a word."""
MIX, HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
"""2^64 by the golden ratio: multiplying by it lets every bit tell in the highest ones."""
Columns = Mapping[str, pa.ChunkedArray]
"""Those of COLUMNS and OPTIONAL that a file has, as TEXTS; battle_id, whose texts differ, as plain ones."""


class VoteFileError(ValueError):
    """A file that cannot be rated."""


class Fault(NamedTuple):
    """What is wrong with a row, counted from 0. `again`: of a battle, the row that voted on it first."""

    row: int
    what: str
    again: int | None = None


def read_votes(path: Path) -> VoteTable:
    """One row per vote. An empty voter_id is an unknown voter. Raises VoteFileError.

    Without a column `day` all votes count as cast on one day, without `trust` all voters as trusted alike, and without
    `network` as coming from different ones; `scene` and `task` are as optional.
    """
    try:
        columns = _parquet(path) if path.suffix == ".parquet" else _csv(path)
        texts = {name: coded(column) for name, column in columns.items() if name != BATTLE}
        if found := [*_faults(texts), *_faults_of_battles(columns[BATTLE])]:
            raise _refusal(path, min(found, key=lambda fault: (fault.row, fault.again is not None)))
    except UnicodeDecodeError as error:
        raise VoteFileError(f"{path}: byte {error.start} is not UTF-8; expected a CSV file in UTF-8") from None
    except OSError as error:
        raise VoteFileError(f"{path}: {error.strerror}; expected a CSV or Parquet file of votes") from None
    return _table(texts)


def trust_of(text: str) -> float | None:
    """What a vote weighs, above 0 and at most 1; empty: 1. None for any other text."""
    try:
        found = float(text) if text else 1.0
    except ValueError:
        return None
    return found if 0.0 < found <= 1.0 else None


def _csv(path: Path) -> Columns:
    with path.open("rb") as file:
        first = file.readline().decode("utf-8-sig").rstrip("\r\n")
        content = mmap(file.fileno(), 0, access=ACCESS_READ) if first else b""
    names = [name.strip() for name in first.split(",")]
    if not _is_quoted(content) and "\r" not in first and not _fault_of_header(names):
        wanted = _wanted(names)
        try:
            table = pyarrow.csv.read_csv(
                pa.BufferReader(pa.py_buffer(content)),
                pyarrow.csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK),
                pyarrow.csv.ParseOptions(quote_char=False),
                pyarrow.csv.ConvertOptions(include_columns=wanted, column_types={name: _type(name) for name in wanted}),
            )
            return dict(zip(wanted, table.columns, strict=True))
        except pa.ArrowException:
            pass  # a line of another length
    (_, header), *rows = _lines(path)
    names = [name.strip() for name in header]
    return {name: _column(name, [row[names.index(name)] for _, row in rows]) for name in _wanted(names)}


def _is_quoted(content: bytes | mmap) -> bool:
    """Whether there are quotes. All must be UTF-8, in columns that nobody wants too: raises UnicodeDecodeError."""
    data, ascii_only, quoted = np.frombuffer(content, np.uint8), True, False
    for start in range(0, len(data), GLANCE):
        block = data[start : start + GLANCE]
        quoted = quoted or bool((block == ord('"')).any())
        ascii_only = ascii_only and bool(block.max() < 0x80)
    if not ascii_only:
        content[:].decode()
    return quoted


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The header and all rows of a CSV file, each with the number of its line."""
    names: list[str] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            for row in reader:
                if not names and (fault := _fault_of_header([name.strip() for name in row])):
                    raise VoteFileError(f"{path} line {reader.line_num}: {fault}")
                names = names or row
                if row and len(row) != len(names):
                    counted = f"{len(row)} values; expected {len(names)}, as in the first line"
                    raise VoteFileError(f"{path} line {reader.line_num}: {counted}")
                if row:  # and not an empty line, such as the last one
                    yield reader.line_num, row
        except csv.Error as error:
            line = max(1, reader.line_num)
            raise VoteFileError(f"{path} line {line}: {error}; expected comma-separated values") from None
    if not names:
        raise VoteFileError(f"{path} line 1: nothing; expected the columns {', '.join(COLUMNS)}")


def _parquet(path: Path) -> Columns:
    from pyarrow import parquet  # takes as long to load as a large file to read

    try:
        names = [name.strip() for name in parquet.read_schema(path).names]
        if fault := _fault_of_header(names):
            raise VoteFileError(f"{path}: {fault}")
        wanted = _wanted(names)
        found = parquet.read_table(path, columns=wanted, read_dictionary=[name for name in wanted if name != BATTLE])
        if sorted(found.column_names) != sorted(wanted):  # a damaged file says one thing here and another there
            read = ", ".join(found.column_names) or "nothing"
            raise pa.ArrowInvalid(f"its columns {', '.join(wanted)} read as {read}")
        return {name: _in_texts(name, found.column(name)) for name in wanted}
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's, not what pyarrow says of a page
            raise
        raise VoteFileError(f"{path}: {error}; expected a Parquet file of votes") from None


def _in_texts(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Empty values are empty texts."""
    if column.type == _type(name) and not column.null_count:
        return column
    values = column.to_pylist()
    if any(isinstance(value, bytes) for value in values):
        raise pa.ArrowInvalid(f"column {name} holds bytes; expected text")
    return _column(name, ["" if value is None else str(value) for value in values])


def _column(name: str, values: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, _type(name))])


def _type(name: str) -> pa.DataType:
    return pa.string() if name == BATTLE else TEXTS


def _fault_of_header(names: list[str]) -> str | None:
    if missing := [name for name in COLUMNS if name not in names]:
        return f"no column {', '.join(missing)}; expected {', '.join(COLUMNS)}"
    twice = sorted({name for name in names if names.count(name) > 1})
    return f"column {', '.join(twice)} appears twice; expected each once" if twice else None


def _wanted(names: list[str]) -> list[str]:
    return [name for name in (*COLUMNS, *OPTIONAL) if name in names]


def _faults(texts: Mapping[str, Coded]) -> Iterator[Fault]:
    """The first row with each fault."""
    for name in ("robot", "left", "right"):
        yield from _first(texts[name], _is_no_name, f"{name} is {{!r}}; expected a name")
    known = f"expected one of {', '.join(OUTCOMES)}"
    yield from _first(texts["vote"], lambda text: text not in OUTCOMES, f"unknown vote {{!r}}; {known}")
    if "trust" in texts:
        told = "trust is {!r}; expected a number above 0 and at most 1"
        yield from _first(texts["trust"], lambda text: trust_of(text) is None, told)
    (left, names), (right, others) = texts["left"], texts["right"]
    place = {name: number for number, name in enumerate(others)}
    same = np.array([place.get(name, -1) for name in names], np.int64)[left] == right
    for row in np.flatnonzero(same)[:1].tolist():
        yield Fault(row, f"{names[left[row]]!r} against itself; expected two different policies")


def _is_no_name(text: str) -> bool:
    return text.lower() in NOT_A_NAME


def _first(column: Coded, wrong: Callable[[str], bool], what: str) -> Iterator[Fault]:
    places, texts = column
    faulty = np.array([wrong(text) for text in texts], dtype=bool)
    if faulty.any():
        row = int(np.argmax(faulty[places]))
        yield Fault(row, what.format(texts[places[row]]))


def _faults_of_battles(battles: pa.ChunkedArray) -> Iterator[Fault]:
    if _are_different_names(battles):
        return
    seen: dict[str, int] = {}
    for row, text in enumerate(battle.strip() for battle in battles.to_pylist()):
        if _is_no_name(text):
            yield Fault(row, f"battle_id is {text!r}; expected a name")
        elif text in seen:
            yield Fault(row, f"battle {text!r} was voted on in", again=seen[text])
        seen.setdefault(text, row)


def _are_different_names(battles: pa.ChunkedArray) -> bool:
    """Whether that can be seen at a glance, by a number per text: equal for equal texts, for others hardly ever."""
    keys = [np.zeros(0, np.uint64)]
    for chunk in battles.chunks:
        ends, content = chunk.buffers()[1:]
        offsets = np.frombuffer(ends, np.int32)[chunk.offset :][: len(chunk) + 1].astype(np.int64)
        data, lengths = np.frombuffer(content or b"", np.uint8), np.diff(offsets)
        short = np.flatnonzero(lengths <= max(map(len, NOT_A_NAME))).tolist()
        used = data[offsets[0] : offsets[-1]]
        if (
            any(_is_no_name(chunk[row].as_py()) for row in short)
            or used.min(initial=0x7E) <= 0x20
            or used.max(initial=0) >= 0x7F
        ):
            return False  # blanks or other alphabets may be in them
        keys.append(_keys(data, offsets[:-1], lengths))
    found = np.sort(np.concatenate(keys))
    return not (found[1:] == found[:-1]).any()


def _keys(data: NDArray[np.uint8], starts: Integers, lengths: Integers) -> NDArray[np.uint64]:
    """(texts,) A text is taken eight bytes at a time. Up to eight are their own number; of more, the words are mixed:
    pyarrow.compute and sets of Python's take three times as long."""
    eight = np.ndarray((len(data) + 1,), "V8", np.append(data, np.zeros(8, np.uint8)), strides=(1,))
    found = np.zeros(len(starts), np.uint64)
    for done in range(0, int(lengths.max(initial=0)), 8):
        left = np.clip(lengths - done, 0, 8)
        words = eight[np.minimum(starts + done, len(data))].view("<u8") & MASKS[left]
        found = np.where(left > 0, (found ^ (found >> HALF)) * MIX + words, found)
    return found


def _refusal(path: Path, fault: Fault) -> VoteFileError:
    lines = None if path.suffix == ".parquet" else [line for line, _ in _lines(path)]

    def place(row: int) -> str:
        return f"row {row + 1}" if lines is None else f"line {lines[row + 1]}"

    again = "" if fault.again is None else f" {place(fault.again)}; expected one vote per battle"
    return VoteFileError(f"{path} {place(fault.row)}: {fault.what}{again}")


def _table(texts: Mapping[str, Coded]) -> VoteTable:
    places, outcomes = texts["vote"]
    nothing: Coded = np.zeros(len(places), np.int64), [""][: len(places)]
    keys = {key: texts.get(CALLED.get(key, key), nothing) for key in KEYS}
    trust = None
    if "trust" in texts and len(places):
        trust = np.array([trust_of(text) for text in texts["trust"][1]], dtype=float)[texts["trust"][0]]
    return VoteTable(
        {key: tuple(values) for key, (_, values) in keys.items()},
        {key: codes for key, (codes, _) in keys.items()},
        np.array([OUTCOMES.index(name) for name in outcomes], dtype=np.int64)[places],
        trust,
    )
