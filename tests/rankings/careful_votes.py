"""Votes of a file, read row by row in plain Python: what the reader in columns must agree with, to the word."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from rankings.files.vote_file import COLUMNS, NOT_A_NAME, OPTIONAL, VoteFileError
from rankings.files.weights import trust_of
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import KEYS, VoteTable

Row = tuple[str, Mapping[str, str]]
"""Where it stands, and its values by column."""


def read_carefully(path: Path) -> VoteTable:
    try:
        rows = list(_checked(_parquet_rows(path) if path.suffix == ".parquet" else _csv_rows(path)))
    except UnicodeDecodeError as error:
        raise VoteFileError(f"{path}: byte {error.start} is not UTF-8; expected a CSV file in UTF-8") from None
    named = {"setting": "robot", "voter": "voter_id"}
    texts = {key: [row.get(named.get(key, key), "") for row in rows] for key in KEYS}
    values = {key: tuple(sorted(set(texts[key]))) for key in KEYS}
    codes = {key: np.array([values[key].index(text) for text in texts[key]], np.int64) for key in KEYS}
    trust = np.array([trust_of(row["trust"]) for row in rows], float) if rows and "trust" in rows[0] else None
    return VoteTable(values, codes, np.array([OUTCOMES.index(row["vote"]) for row in rows], np.int64), trust)


def _csv_rows(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        header: list[str] = []
        while True:
            try:
                row = next(reader, None)
            except csv.Error as error:
                line = max(1, reader.line_num)
                raise VoteFileError(f"{path} line {line}: {error}; expected comma-separated values") from None
            where = f"{path} line {max(1, reader.line_num)}"
            if row is None:
                break
            if not header:
                header = _checked_header(where, row)
            elif row and len(row) != len(header):
                raise VoteFileError(f"{where}: {len(row)} values; expected {len(header)}, as in the first line")
            elif row:
                yield where, dict(zip(header, (text.strip() for text in row), strict=True))
    if not header:
        raise VoteFileError(f"{path} line 1: nothing; expected the columns {', '.join(COLUMNS)}")


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        header = _checked_header(str(path), list(pyarrow.parquet.read_schema(path).names))
        wanted = [name for name in (*COLUMNS, *OPTIONAL) if name in header]
        with pyarrow.parquet.ParquetFile(path) as file:
            number = 0
            for batch in file.iter_batches(columns=wanted):
                if sorted(batch.schema.names) != sorted(wanted):
                    raise pa.ArrowInvalid("other columns")
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path} row {number}", {name: _text(name, value) for name, value in row.items()}
    except (pa.ArrowException, OSError) as error:
        raise VoteFileError(f"{path}: {error}; expected a Parquet file of votes") from None


def _text(name: str, value: object) -> str:
    if isinstance(value, bytes):
        raise pa.ArrowInvalid(f"column {name} holds bytes; expected text")
    return "" if value is None else str(value).strip()


def _checked(rows: Iterator[Row]) -> Iterator[Mapping[str, str]]:
    seen: dict[str, str] = {}
    for where, value in rows:
        _check(where, value)
        battle, place = value["battle_id"], where.rpartition(" ")
        if battle in seen:
            first = f"{place[0].rpartition(' ')[2]} {seen[battle]}"
            raise VoteFileError(f"{where}: battle {battle!r} was voted on in {first}; expected one vote per battle")
        seen[battle] = place[2]
        yield value


def _checked_header(where: str, row: list[str]) -> list[str]:
    header = [name.strip() for name in row]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise VoteFileError(f"{where}: no column {', '.join(missing)}; expected {', '.join(COLUMNS)}")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise VoteFileError(f"{where}: column {', '.join(twice)} appears twice; expected each once")
    return header


def _check(where: str, value: Mapping[str, str]) -> None:
    for name in ("battle_id", "robot", "left", "right"):
        if value[name].lower() in NOT_A_NAME:
            raise VoteFileError(f"{where}: {name} is {value[name]!r}; expected a name")
    if value["vote"] not in OUTCOMES:
        raise VoteFileError(f"{where}: unknown vote {value['vote']!r}; expected one of {', '.join(OUTCOMES)}")
    if trust_of(value.get("trust", "")) is None:
        raise VoteFileError(f"{where}: trust is {value['trust']!r}; expected a number above 0 and at most 1")
    if value["left"] == value["right"]:
        raise VoteFileError(f"{where}: {value['left']!r} against itself; expected two different policies")
