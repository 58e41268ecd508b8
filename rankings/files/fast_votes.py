"""Votes of a CSV or Parquet file, read in columns: a million in a fraction of a second. No Django.

This reader takes only files in which nothing is wrong. It never says what is: where it gives up, `files.vote_file`
reads row by row, and names the row.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankings.files import plain_csv
from rankings.files.arrow import Coded, NotPlain
from rankings.tally.arrays import Floats, Integers
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import KEYS, Table

REQUIRED = {"robot": "robot", "left": "left", "right": "right", "voter": "voter_id"}
OPTIONAL = {"scene": "scene", "task": "task", "day": "day", "network": "network"}
TRUST = "trust"
"""What the table calls it -> the file's column."""
COLUMNS = ("battle_id", "voter_id", "robot", "left", "right", "vote")
NOT_A_NAME = {"", "nan", "null", "none", "na", "n/a"}
"""How missing values look after a trip through a spreadsheet or a data frame; compared in lower case."""


def read_plain(path: Path) -> Table:
    """Raises NotPlain and OSError."""
    try:
        columns = _parquet(path) if path.suffix == ".parquet" else plain_csv.read(path, _wanted, NOT_A_NAME)
    except UnicodeDecodeError as error:
        raise NotPlain(str(error)) from None
    outcome, outcomes = columns["vote"]
    if unknown := sorted(set(outcomes) - set(OUTCOMES)):
        raise NotPlain(f"unknown vote {unknown[0]!r}")
    for name in ("robot", "left", "right"):
        if nameless := [text for text in columns[name][1] if text.lower() in NOT_A_NAME]:
            raise NotPlain(f"{name} is {nameless[0]!r}")
    nothing = np.zeros(len(outcome), np.int64), [""]
    keys = {key: columns.get(column, nothing) for key, column in (REQUIRED | OPTIONAL).items()}
    table = Table(
        {key: tuple(keys[key][1]) for key in KEYS},
        {key: keys[key][0] for key in KEYS},
        np.array([OUTCOMES.index(name) for name in outcomes], dtype=np.int64)[outcome] if outcomes else outcome,
        _trust(*columns[TRUST]) if TRUST in columns else None,
    )
    if table.against_themselves:
        raise NotPlain(f"{table.against_themselves[0]!r} against itself")
    return table


def trust_of(text: str) -> float | None:
    """What a vote weighs, above 0 and at most 1; empty: 1. None for any other text."""
    try:
        found = float(text) if text else 1.0
    except ValueError:
        return None
    return found if 0.0 < found <= 1.0 else None


def _trust(places: Integers, texts: list[str]) -> Floats | None:
    found = [trust_of(text) for text in texts]
    if None in found:
        raise NotPlain("a trust that is no number above 0 and at most 1")
    return np.array(found, dtype=float)[places] if found else None


def _parquet(path: Path) -> dict[str, Coded]:
    """The file's columns."""
    from rankings.files import parquet  # takes as long to load as a large file to read

    try:
        return parquet.read(path, _wanted(parquet.names(path)), NOT_A_NAME)
    except parquet.NotParquet as error:
        raise NotPlain(str(error)) from None


def _wanted(names: list[str]) -> list[str]:
    """The columns to be coded."""
    if missing := [name for name in COLUMNS if name not in names]:
        raise NotPlain(f"no column {', '.join(missing)}")
    if len(set(names)) < len(names):
        raise NotPlain("a column appears twice")
    return [name for name in (*REQUIRED.values(), *OPTIONAL.values(), TRUST, "vote") if name in names]
