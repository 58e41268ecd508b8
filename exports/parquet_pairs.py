"""Preference pairs as a Parquet file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

ROWS = 5_000
"""Rows written at a time."""
_NUMBERS = pa.list_(pa.float64())
_EPISODE = pa.struct(
    [
        ("episode_id", pa.string()),
        ("model_id", pa.string()),
        ("revision", pa.string()),
        ("side", pa.string()),
        ("success", pa.bool_()),
        ("progress", pa.float64()),
        ("steps", pa.int64()),
        ("start_hash", pa.string()),
    ]
)
SCHEMA = pa.schema(
    [
        ("battle_id", pa.string()),
        ("turn_id", pa.string()),
        ("turn", pa.int64()),
        ("turns", pa.int64()),
        ("day", pa.string()),
        ("robot_id", pa.string()),
        ("scene_id", pa.string()),
        ("task_id", pa.string()),
        ("instruction", pa.string()),
        ("seed", pa.int64()),
        ("same_start", pa.bool_()),
        ("start_hash", pa.string()),
        ("start_qpos", _NUMBERS),
        ("start_qvel", _NUMBERS),
        ("chosen", _EPISODE),
        ("rejected", _EPISODE),
        ("reasons", pa.list_(pa.struct([("respect", pa.string()), ("better", pa.string())]))),
    ]
)
"""`start_*`: of the chosen episode, positions qpos and velocities qvel in the scene's order and SI units; `same_start`:
whether the rejected one began in the same state, bit for bit, as first turns do. A reason names the respect in which an
episode was better: chosen, rejected, equal or nothing."""


def write_parquet(path: Path, rows: Iterator[dict[str, Any]]) -> int:
    """Write rows of `exports.preferences.pairs`; answers how many."""
    number = 0
    with parquet.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        while some := [row for _, row in zip(range(ROWS), rows, strict=False)]:
            writer.write_table(pa.Table.from_pylist(some, schema=SCHEMA))
            number += len(some)
    return number
