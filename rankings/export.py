"""The counted votes as a file that names nobody. Same votes, same bytes: rows are sorted by what they say."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from arena.models import REASONS
from rankings.counts_file import numbered
from rankings.models import CountedVote

COLUMNS = ("battle_id", "voter_id", "robot", "scene", "task", "left", "right", "vote", "day", *REASONS)
"""The last four say which side the voter found closer to the goal, smoother, ...: left, right, equal or nothing."""
FORMATS = (".csv", ".parquet")
Rows = list[tuple[str, ...]]


def write_votes(path: Path) -> int:
    """Write all counted votes to a file of one of FORMATS; returns how many."""
    rows = anonymised()
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


def anonymised() -> Rows:
    """A row per counted vote, as in COLUMNS. Battles are numbered in the order of the rows, which tells no time."""
    about = ("voter", "robot_id", "scene_id", "task_id", "left_model_id", "right_model_id")
    columns = [f"count__{name}" for name in about] + [
        "vote__vote",
        "count__day",
        *(f"vote__{name}" for name in REASONS),
    ]
    votes = list(CountedVote.objects.filter(counted=True).values_list(*columns).iterator(chunk_size=20_000))
    voters = numbered([vote[0] for vote in votes])
    rows = sorted(
        (voter, *vote[1:7], vote[7].isoformat(), *vote[8:]) for voter, vote in zip(voters, votes, strict=True)
    )
    return [(f"b{number}", *row) for number, row in enumerate(rows, start=1)]
