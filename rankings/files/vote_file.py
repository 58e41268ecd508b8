"""Votes from a CSV or Parquet file, read in columns. No Django.

Every error names its line and what was expected. Python's csv reads files with quotes, since pyarrow accepts broken
ones, and files that pyarrow refuses, since it does not say where. Neither pandas nor pyarrow.compute is loaded, which
takes longer than most files.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from rankings.files.arrow import TEXTS, Coded, coded
from rankings.files.weights import trust_of
from rankings.tally.arrays import Codes
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import KEYS, VoteTable

BATTLE = "battle_id"
COLUMNS = (BATTLE, "voter_id", "robot", "left", "right", "vote")
OPTIONAL = ("scene", "task", "day", "network", "trust")
COLUMN_OF = {"setting": "robot", "voter": "voter_id"}
"""Keys of a table that a file calls otherwise."""
NAMES = ("robot", "left", "right")
"""Columns that must have a value, as battle_id must."""
NOT_A_NAME = {"", "nan", "null", "none", "na", "n/a"}
"""How missing values look after a trip through a spreadsheet or a data frame, in lower case."""
LONGEST = max(map(len, NOT_A_NAME))
BLOCK = 1 << 22
"""Bytes that one thread reads at a time."""
MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd number without a pattern: the golden ratio's first 64 bits."""
Columns = Mapping[str, pa.ChunkedArray]
"""Those of COLUMNS and OPTIONAL that a file has, as TEXTS; battle_id, whose texts differ, may be of plain ones."""


class VoteFileError(ValueError):
    """A file that cannot be rated."""


def read_votes(path: Path, *, voters: bool = True) -> VoteTable:
    """One row per vote. An empty voter_id is an unknown voter. Raises VoteFileError.

    Without a column `day` all votes count as cast on one day, without `trust` all voters as trusted alike, and without
    `network` as coming from different ones; `scene` and `task` are as optional. `voters`: whether it matters who cast
    which votes. Otherwise `voter_id` is not read, which takes a quarter of the time; with a column `trust` it matters.
    """
    try:
        columns = _parquet(path, voters) if path.suffix == ".parquet" else _csv(path, voters)
        texts = {name: coded(column) for name, column in columns.items() if name != BATTLE}
        if not _are_faultless(texts, columns[BATTLE]):
            _check_rows(path, columns)
    except UnicodeDecodeError as error:
        raise VoteFileError(f"{path}: byte {error.start} is not UTF-8; expected a CSV file in UTF-8") from None
    except OSError as error:
        raise VoteFileError(f"{path}: {error.strerror}; expected a CSV or Parquet file of votes") from None
    return _table(texts)


def _csv(path: Path, voters: bool) -> Columns:
    content = path.read_bytes()
    if not content.isascii():
        content.decode()  # columns that nobody reads must be UTF-8 too
    header = io.BytesIO(content).readline().decode("utf-8-sig").rstrip("\r\n")
    if content and b'"' not in content and "\r" not in header:
        names = [name.strip() for name in header.split(",")]
        wanted = _read(_wanted(f"{path} line 1", names), voters)
        try:
            table = pyarrow.csv.read_csv(
                pa.BufferReader(content),
                pyarrow.csv.ReadOptions(column_names=names, skip_rows=1, block_size=BLOCK),
                pyarrow.csv.ParseOptions(quote_char=False),
                pyarrow.csv.ConvertOptions(
                    check_utf8=False,
                    include_columns=wanted,
                    column_types={**dict.fromkeys(wanted, TEXTS), BATTLE: pa.string()},
                ),
            )
            return dict(zip(wanted, table.columns, strict=True))
        except pa.ArrowException:
            pass  # a line of another length
    (_, first), *rows = _lines(path)
    names = [name.strip() for name in first]
    wanted = _read(_wanted(str(path), names), voters)
    return {name: _texts([row[names.index(name)] for _, row in rows]) for name in wanted}


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The header and all rows of a CSV file but empty ones, each with the number of its line."""
    header: list[str] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            for row in reader:
                where = f"{path} line {reader.line_num}"
                if not header:
                    _wanted(where, [name.strip() for name in row])
                    header = row
                elif row and len(row) != len(header):
                    raise VoteFileError(f"{where}: {len(row)} values; expected {len(header)}, as in the first line")
                if row:
                    yield reader.line_num, row
        except csv.Error as error:
            line = max(1, reader.line_num)
            raise VoteFileError(f"{path} line {line}: {error}; expected comma-separated values") from None
    if not header:
        raise VoteFileError(f"{path} line 1: nothing; expected the columns {', '.join(COLUMNS)}")


def _parquet(path: Path, voters: bool) -> Columns:
    from pyarrow import parquet  # takes as long to load as a large file to read

    try:
        names = [name.strip() for name in parquet.read_schema(path).names]
        wanted = _read(_wanted(str(path), names), voters)
        found = parquet.read_table(path, columns=wanted, read_dictionary=wanted[1:])
        if sorted(found.column_names) != sorted(wanted):  # a damaged file says one thing here and another there
            read = ", ".join(found.column_names) or "nothing"
            raise pa.ArrowInvalid(f"its columns {', '.join(wanted)} read as {read}")
        return {name: _as_texts(name, found.column(name)) for name in wanted}
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the system's, not what pyarrow says of a page
            raise
        raise VoteFileError(f"{path}: {error}; expected a Parquet file of votes") from None


def _as_texts(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Empty values are empty texts."""
    if column.type in (TEXTS, pa.string()) and not column.null_count:
        return column
    values = column.to_pylist()
    if any(isinstance(value, bytes) for value in values):
        raise pa.ArrowInvalid(f"column {name} holds bytes; expected text")
    return _texts(["" if value is None else str(value) for value in values])


def _texts(values: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, TEXTS)])


def _wanted(where: str, names: list[str]) -> list[str]:
    """Those columns of a file that votes are made of. Raises VoteFileError."""
    if missing := [name for name in COLUMNS if name not in names]:
        raise VoteFileError(f"{where}: no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise VoteFileError(f"{where}: column {', '.join(twice)} appears twice; expected each once")
    return [name for name in (*COLUMNS, *OPTIONAL) if name in names]


def _read(wanted: list[str], voters: bool) -> list[str]:
    """Those of the wanted columns that are read."""
    return wanted if voters or "trust" in wanted else [name for name in wanted if name != COLUMN_OF["voter"]]


def _are_faultless(texts: Mapping[str, Coded], battles: pa.ChunkedArray) -> bool:
    """Whether `_check_rows` would find nothing, which takes ten times as long to look."""
    (left, names), (right, others) = texts["left"], texts["right"]
    place = {name: number for number, name in enumerate(others)}
    opponent = np.array([place.get(name, -1) for name in names], np.int64)
    return (
        NOT_A_NAME.isdisjoint(text.lower() for name in NAMES for text in texts[name][1])
        and set(texts["vote"][1]) <= set(OUTCOMES)
        and None not in map(trust_of, texts["trust"][1] if "trust" in texts else ())
        and not (opponent[left] == right).any()
        and (_are_clearly_different(battles) or _are_different(battles))
    )


def _are_different(battles: pa.ChunkedArray) -> bool:
    """Whether all are names, each another."""
    named = list(map(str.strip, battles.to_pylist()))
    short = (battle.lower() for battle in named if len(battle) <= LONGEST)
    return len(set(named)) == len(named) and NOT_A_NAME.isdisjoint(short)


def _are_clearly_different(battles: pa.ChunkedArray) -> bool:
    """The same, ten times as fast, for names as programs write them: of one length, and without blanks at their ends.
    False for all others, and where two names have the same hash."""
    chunks = [_hashes(chunk) for chunk in battles.chunks if len(chunk)]
    hashes = [each for each in chunks if each is not None]
    if not hashes or len(hashes) < len(chunks) or len({length for length, _ in hashes}) > 1:
        return False
    found = np.sort(np.concatenate([each for _, each in hashes]))
    return bool((found[1:] != found[:-1]).all())


def _hashes(battles: pa.Array) -> tuple[int, NDArray[np.uint64]] | None:
    """The length of all these names, and (n,) a hash of each."""
    if battles.type != pa.string() or battles.null_count:
        return None
    _, offsets, data = battles.buffers()
    ends = np.frombuffer(offsets, np.int32)[battles.offset : battles.offset + len(battles) + 1]
    length = int(ends[1] - ends[0])
    if length <= LONGEST or (np.diff(ends) != length).any():
        return None
    texts = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]].reshape(-1, length)
    if (texts[:, [0, -1]] <= ord(" ")).any() or (texts[:, [0, -1]] > ord("~")).any():
        return None
    words = np.zeros((len(texts), -(-length // 8) * 8), np.uint8)
    words[:, :length] = texts
    found = np.zeros(len(texts), np.uint64)
    for word in words.view(np.uint64).T:
        found = (found ^ word) * MIX
        found ^= found >> np.uint64(32)
    return length, found


def _check_rows(path: Path, columns: Columns) -> None:
    """Raises VoteFileError for the first row with a fault."""
    is_csv, seen = path.suffix != ".parquet", dict[str, str]()
    lines = [line for line, _ in _lines(path)][1:] if is_csv else range(1, len(columns[BATTLE]) + 1)
    for line, texts in zip(lines, zip(*(column.to_pylist() for column in columns.values()), strict=True), strict=True):
        row = dict(zip(columns, map(str.strip, texts), strict=True))
        place = f"{'line' if is_csv else 'row'} {line}"
        if fault := _fault(row):
            raise VoteFileError(f"{path} {place}: {fault}")
        battle = row[BATTLE]
        if battle in seen:
            again = f"battle {battle!r} was voted on in {seen[battle]}; expected one vote per battle"
            raise VoteFileError(f"{path} {place}: {again}")
        seen[battle] = place


def _fault(row: Mapping[str, str]) -> str | None:
    for name in (BATTLE, *NAMES):
        if row[name].lower() in NOT_A_NAME:
            return f"{name} is {row[name]!r}; expected a name"
    if row["vote"] not in OUTCOMES:
        return f"unknown vote {row['vote']!r}; expected one of {', '.join(OUTCOMES)}"
    if trust_of(row.get("trust", "")) is None:
        return f"trust is {row['trust']!r}; expected a number above 0 and at most 1"
    if row["left"] == row["right"]:
        return f"{row['left']!r} against itself; expected two different policies"
    return None


def _table(texts: Mapping[str, Coded]) -> VoteTable:
    places, outcomes = texts["vote"]
    nothing: Coded = np.zeros(len(places), np.int64), [""][: len(places)]
    keys = {key: texts.get(COLUMN_OF.get(key, key), nothing) for key in KEYS}
    trust = None
    if "trust" in texts and len(places):
        trust = np.array([trust_of(text) for text in texts["trust"][1]], dtype=float)[texts["trust"][0]]
    return VoteTable(
        {key: tuple(values) for key, (_, values) in keys.items()},
        Codes((key, codes) for key, (codes, _) in keys.items()),
        np.array([OUTCOMES.index(name) for name in outcomes], dtype=np.int64)[places],
        trust,
    )
