"""What a browser gets of an episode before the vote: positions rounded to visible differences, 25 times a second.

A view row is int16 little-endian (nq,): rint(qpos / scale), clipped. Row 0 is the start, row 5 k the state after step
k; the four between come from the physics of that step. No velocity, action or exact number follows from them.
Needs numpy alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulation.contracts import CONTROL_HZ, Floats, SimulationError

VIEW_HZ = 25
ROWS_PER_STEP = VIEW_HZ // CONTROL_HZ
LENGTH_M, ANGLE_RAD, QUATERNION = 0.0002, np.pi / 1800, 0.001
"""What one unit of a row stands for: 0.2 mm, 0.1 degrees, a thousandth of a component."""
LARGEST = 32767
DECIMALS = 4  # of rows in JSON


class ViewFormatError(SimulationError, ValueError):
    """Invalid positions or bytes of a view."""


def pack(qpos: Floats, scale: Floats) -> bytes:
    """Rows of positions (n, nq) in MuJoCo's units as n * nq * 2 bytes. `scale` (nq,): what one unit stands for."""
    if qpos.ndim != 2 or qpos.shape[1:] != scale.shape:
        raise ViewFormatError(f"expected rows of {len(scale)} positions, got {qpos.shape}")
    return np.clip(np.rint(qpos / scale), -LARGEST, LARGEST).astype("<i2").tobytes()


def unpack(content: bytes, nq: int) -> NDArray[np.int16]:
    """The rows (n, nq) of packed bytes, in units of the scale."""
    if not content or nq < 1 or len(content) % (2 * nq):
        raise ViewFormatError(f"expected a whole number of rows of {2 * nq} bytes, got {len(content)} bytes")
    return np.frombuffer(content, dtype="<i2").reshape(-1, nq)


def between_records(states: Floats) -> Floats:
    """Rows for a recording without any, interpolated linearly between its states (steps + 1, nq)."""
    records = np.arange(len(states)) * ROWS_PER_STEP
    rows = np.arange(ROWS_PER_STEP * (len(states) - 1) + 1)
    return np.stack([np.interp(rows, records, column) for column in states.T], axis=1)


def view_of(document: Mapping[str, Any], old_scale: Sequence[float] | None = None) -> tuple[bytes, Floats]:
    """The packed rows of an episode document, and their scale.

    `old_scale`: for old documents, which have no view.
    """
    scale = np.asarray(document.get("view_scale", old_scale), dtype=np.float64)
    if "view" in document:
        return bytes(document["view"]), scale
    states = np.asarray([state["qpos"] for state in document["states"]], dtype=np.float64)
    return pack(between_records(states), scale), scale


def until(steps: int, content: bytes, nq: int) -> bytes:
    """The view up to a step, [5 steps + 1, nq]. One that ended earlier repeats its last row."""
    rows = unpack(content, nq)
    wanted = ROWS_PER_STEP * steps + 1
    return rows[np.minimum(np.arange(wanted), len(rows) - 1)].tobytes()


def rounded_states(content: bytes, scale: Floats) -> list[dict[str, Any]]:
    """The rows as an episode's states: time [s] and positions, without velocities."""
    rows = np.round(unpack(content, len(scale)) * scale, DECIMALS) + 0.0  # no negative zeros
    return [{"time": row / VIEW_HZ, "qpos": qpos, "qvel": []} for row, qpos in enumerate(rows.tolist())]
