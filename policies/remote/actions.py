"""The actions of a server as the arena plays them: from poses, angles, signs and grippers of other conventions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from policies.remote.errors import BadFrame
from policies.remote.poses import FRAMES, READERS, euler_of_matrix, tool_rotation
from simulation.contracts import ACTION_DIM, MAX_CHUNK, Floats

FARTHEST_M, FARTHEST_RAD = 10.0, 4 * np.pi
"""What no step of a table-top arm is: a number beyond is no length or angle, and would end in a float's overflow."""
POSES = ("delta", "absolute")
AS_IT_IS = "as it is"
"""The form of actions that are those of the robot already."""


@dataclass(frozen=True)
class ActionForm:
    """How a server tells actions: position (3) [m], rotation (3) [rad] and gripper, as rows of an array.

    `pose`: AS_IT_IS, which leaves all numbers alone; "delta", a move and a turn about the axes of the base; or
    "absolute", a pose of the tool in the base.
    `rotation`: "euler" or "axis_angle". `frame`: from which rotation absolute ones are counted: "down", a tool that
    points straight down (BridgeData), or "base". `signs`: six of 1 or -1, one for each number of the pose.
    `opened`, `closed`: the server's numbers of an open and a closed gripper. `threshold`: unless None, a gripper is
    open above this opening 0..1, and else closed. `horizon`: rows of an answer, of which the first `chunk` are played;
    None: any number up to 64.
    """

    pose: str = "delta"
    rotation: str = "euler"
    frame: str = "down"
    signs: tuple[int, ...] = (1, 1, 1, 1, 1, 1)
    opened: float = 1.0
    closed: float = 0.0
    threshold: float | None = None
    horizon: int | None = None

    def adapted(self, answer: NDArray[np.generic], felt: ArrayLike, chunk: int) -> Floats:
        """Rows of eef_delta_bridge7, or the server's own if they stay as they are, float64 (n, 7) with n up to `chunk`.

        `felt` (8,): the arm when the answer was asked for; the first of absolute poses is told relative to it.
        Raises BadFrame.
        """
        rows = self._checked(answer)[:chunk].copy()
        if self.pose == AS_IT_IS:
            return rows
        rows[:, :6] *= self.signs
        rows[:, 6] = self._opening(rows[:, 6])
        self._deltas(rows, felt)
        return rows

    def _checked(self, answer: NDArray[np.generic]) -> Floats:
        """(n, 7) finite float64."""
        if not isinstance(answer, np.ndarray) or answer.dtype.kind not in "fiu":
            raise BadFrame(f"the actions are of type {_type_of(answer)}; expected an array of floats")
        rows = answer[None] if answer.ndim == 1 and self.horizon in (None, 1) else answer
        count = "1..64" if self.horizon is None else str(self.horizon)
        fits = rows.ndim == 2 and rows.shape[1] == ACTION_DIM and 1 <= len(rows) <= MAX_CHUNK
        if not fits or self.horizon not in (None, len(rows)):
            raise BadFrame(f"the actions have the shape {list(answer.shape)}; expected [{count}, {ACTION_DIM}]")
        numbers = rows.astype(np.float64)
        if not np.isfinite(numbers).all():
            raise BadFrame("the actions hold NaN or infinity")
        if np.abs(numbers[:, :3]).max() > FARTHEST_M or np.abs(numbers[:, 3:6]).max() > FARTHEST_RAD:
            raise BadFrame("the actions hold numbers that are no metres and radians")
        return numbers

    def _opening(self, told: Floats) -> Floats:
        """0 closed .. 1 open."""
        opening: Floats = np.clip((told - self.closed) / (self.opened - self.closed), 0.0, 1.0)
        return opening if self.threshold is None else (opening > self.threshold).astype(np.float64)

    def _deltas(self, rows: Floats, felt: ArrayLike) -> None:
        """In place: each row's pose as the way from the one before, in metres and angles."""
        read = READERS[self.rotation]
        if self.pose == "delta":
            if self.rotation != "euler":
                rows[:, 3:6] = [euler_of_matrix(read(row)) for row in rows[:, 3:6]]
            return
        place, turn = np.asarray(felt, np.float64)[:3], tool_rotation(felt)
        for row in rows:
            goal, turned = row[:3].copy(), read(row[3:6]) @ FRAMES[self.frame]
            row[:3], row[3:6] = goal - place, euler_of_matrix(turned @ turn.T)
            place, turn = goal, turned


def _type_of(answer: object) -> str:
    return answer.dtype.name if isinstance(answer, np.ndarray) else type(answer).__name__
