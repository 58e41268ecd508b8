"""The counted votes as a file that names nobody. Same votes, same bytes: rows are sorted by what they say."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from rankings.counts import OUTCOMES
from rankings.counts_file import numbered
from rankings.publication import load
from rankings.table import KEYS, Table

COLUMNS = ("battle_id", "voter_id", "robot", "scene", "task", "left", "right", "vote", "day")
FORMATS = (".csv", ".parquet")
Rows = list[tuple[str, ...]]


def write_votes(path: Path) -> int:
    """Write all counted votes to a file of one of FORMATS; returns how many."""
    rows = anonymised(load())
    if path.suffix == ".parquet":
        columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
        arrays = [pa.array(column, pa.string()) for column in columns]
        pyarrow.parquet.write_table(pa.table(arrays, names=list(COLUMNS)), path, compression="zstd")
        return len(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)
    return len(rows)


def anonymised(table: Table) -> Rows:
    """A row per vote, as in COLUMNS. Battles are numbered in the order of the rows, which is not that of time."""
    texts = {key: [table.values[key][code] for code in table.codes[key].tolist()] for key in KEYS}
    texts["voter"] = numbered(texts["voter"])
    order = ("voter", "robot", "scene", "task", "left", "right")
    votes = []
    for place, outcome in zip(*(found.tolist() for found in np.nonzero(table.outcomes)), strict=True):
        row = (*(texts[key][place] for key in order), OUTCOMES[outcome], texts["day"][place])
        votes += [row] * int(table.outcomes[place, outcome])
    return [(f"b{number}", *row) for number, row in enumerate(sorted(votes), start=1)]
