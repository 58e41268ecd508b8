"""The counted votes as an anonymous file: sorted rows, so that equal votes give equal bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from arena.kinds import Kind
from rankings.files.counts_file import CHUNK, Coded, coded_lines, in_order_of_texts, lines, numbered, sorting
from rankings.models import CountedVote
from rankings.publication import snapshots
from rankings.tally.table import Texts

VOTES = ("battle_id", "voter_id", "robot", "scene", "task", "left", "right", "vote", "day", "network", "trust")
"""`network`: a number where several voters share one that day; `trust`: the weight of the vote."""
PROGRESS = ("left_progress", "right_progress")
"""How much of the task each side did, 0 to 100, as the voter judged it after the vote, with the names known."""
FORMATS = (".csv", ".parquet")
NO_VISIT = ("", "1")
"""The network and trust of a visit that shares no network and has full trust."""


def write_votes(path: Path, kind: Kind) -> int:
    """Write all counted votes of a kind to a file of one of FORMATS; returns how many."""
    columns = _sorted(_anonymised(kind))
    if path.suffix == ".parquet":
        schema = pa.schema([(name, pa.string()) for name in columns_of(kind)])
        with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
            for chunk in _chunks(columns):
                texts = [values.take(pa.array(places)) for values, places in chunk]
                writer.write_table(pa.table(texts, schema=schema))
    else:
        with path.open("wb") as file:
            file.write(lines([columns_of(kind)]))
            file.writelines(coded_lines(chunk) for chunk in _chunks(columns))
    return len(columns[0].codes)


def columns_of(kind: Kind) -> tuple[str, ...]:
    """VOTES, a column per reason (the side that the voter found better in it: left, right, equal or nothing), and
    PROGRESS."""
    return (*VOTES, *kind.reasons, *PROGRESS)


def _anonymised(kind: Kind) -> list[Coded]:
    """All columns except the first, with voters numbered anew."""
    about = ("voter", "robot_id", "scene_id", "task_id", "left_model_id", "right_model_id")
    names = [f"count__{name}" for name in about] + [
        "vote__vote",
        "count__day",
        *(f"vote__reasons__{name}" for name in kind.reasons),
        *(f"vote__battle__feedback__{name}" for name in PROGRESS),
    ]
    known = _visits(kind)
    found = [Texts() for _ in (*names, "network", "trust")]
    rows: Iterator[tuple[Any, ...]]
    counted = CountedVote.objects.filter(counted=True, vote__kind=kind.id)
    rows = counted.values_list(*names).iterator(chunk_size=20_000)
    while batch := list(itertools.islice(rows, CHUNK)):
        columns = list(zip(*batch, strict=True))
        visits = (known.get((voter, str(day)), NO_VISIT) for voter, day in zip(columns[0], columns[7], strict=True))
        columns[8:8] = zip(*visits, strict=True)
        for texts, column in zip(found, columns, strict=True):
            texts.extend("" if value is None else str(value) for value in column)  # a day in ISO's way
    (voters, places), *rest = (texts.coded() for texts in found)
    return [Coded(numbered(voters), places), *(Coded(pa.array(values, pa.string()), codes) for values, codes in rest)]


def _visits(kind: Kind) -> dict[tuple[str, str], tuple[str, str]]:
    """Voter and day -> network and trust, as texts; visits that are not there have NO_VISIT."""
    from rankings.votes import closed_days

    table = snapshots.Stored(closed_days.counts(), closed_days.read_facts().answers).of(kind)
    visits = table.visit_columns()
    rows = np.flatnonzero((visits["network"][1] > 0) | (table.trust is not None))
    (networks, network), (trusts, trust) = visits["network"], visits["trust"]
    voters, days = table.values["voter"], table.values["day"]
    columns = (each[rows].tolist() for each in (table.codes["voter"], table.codes["day"], network, trust))
    return {(voters[a], days[b]): (networks[c], trusts[d]) for a, b, c, d in zip(*columns, strict=True)}


def _sorted(columns: list[Coded]) -> list[Coded]:
    order = sorting([in_order_of_texts(column) for column in columns])
    return [Coded(texts, codes.take(order)) for texts, codes in columns]


def _chunks(columns: list[Coded]) -> Iterator[list[Coded]]:
    """CHUNK rows at a time, with battles numbered in the order of the rows, which does not reveal times."""
    for first in range(0, len(columns[0][1]), CHUNK):
        some = [Coded(texts, codes[first : first + CHUNK]) for texts, codes in columns]
        numbers = np.arange(len(some[0].codes))
        yield [Coded(pa.array([f"b{first + number + 1}" for number in numbers]), numbers), *some]
