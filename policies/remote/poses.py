"""Poses in the forms that policies use, from and to those of the arena (eef_delta_bridge7, eef_pose_bridge8).

Positions are in m and angles in rad, in the base frame. A rotation is either three angles (roll, pitch, yaw about the
fixed x, y and z axes, in this order) or a rotation vector (the axis times the angle).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from simulation.contracts import Floats

DOWN: Floats = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
"""The rotation of a tool that points straight down, from which BridgeData counts its angles."""
FRAMES: Mapping[str, Floats] = {"down": DOWN, "base": np.eye(3)}
STEEPEST = -1e-3  # of the tool's approach axis along z: the arm's reading tells its two other parts alone


def matrix_of_euler(angles: ArrayLike) -> Floats:
    """(3,) roll, pitch, yaw [rad] -> rotation matrix (3, 3)."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(angles), np.cos(angles)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def euler_of_matrix(matrix: Floats) -> Floats:
    """The inverse of `matrix_of_euler`. Where the pitch is a right angle, the roll is 0."""
    pitch = np.arcsin(np.clip(-matrix[2, 0], -1.0, 1.0))
    if abs(matrix[2, 0]) > 1.0 - 1e-9:
        return np.array([0.0, pitch, np.arctan2(-matrix[0, 1], matrix[1, 1])])
    return np.array([np.arctan2(matrix[2, 1], matrix[2, 2]), pitch, np.arctan2(matrix[1, 0], matrix[0, 0])])


def matrix_of_vector(vector: ArrayLike) -> Floats:
    """(3,) rotation vector [rad] -> rotation matrix (3, 3)."""
    x, y, z = vector = np.asarray(vector, np.float64)
    angle = float(np.linalg.norm(vector))
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    once, twice = (1.0, 0.5) if angle < 1e-9 else (np.sin(angle) / angle, (1.0 - np.cos(angle)) / angle**2)
    found: Floats = np.eye(3) + once * cross + twice * cross @ cross
    return found


def vector_of_matrix(matrix: Floats) -> Floats:
    """The inverse of `matrix_of_vector`, for angles up to pi."""
    angle = float(np.arccos(np.clip((np.trace(matrix) - 1.0) / 2.0, -1.0, 1.0)))
    skew = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    if angle < np.pi - 1e-4:
        found: Floats = skew / 2.0 if angle < 1e-7 else skew * angle / (2.0 * np.sin(angle))
        return found
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2.0)
    axis: Floats = vectors[:, np.argmax(values)]
    return axis * (angle if axis @ skew >= 0.0 else -angle)


Reader = Callable[[ArrayLike], Floats]
Writer = Callable[[Floats], Floats]
READERS: Mapping[str, Reader] = {"euler": matrix_of_euler, "axis_angle": matrix_of_vector}
WRITERS: Mapping[str, Writer] = {"euler": euler_of_matrix, "axis_angle": vector_of_matrix}


def tool_rotation(felt: ArrayLike) -> Floats:
    """The tool's rotation matrix (3, 3), from what the arm feels: (8,) numbers of eef_pose_bridge8.

    They tell two parts of the approach axis, whose third is downward, and the yaw of the axis across the fingers.
    """
    _, _, _, sine, cosine, across, along, _ = np.asarray(felt, np.float64)
    down = min(-np.sqrt(max(0.0, 1.0 - across**2 - along**2)), STEEPEST)
    approach = np.array([across, along, down])
    yaw = np.arctan2(sine, cosine)
    side = np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    side[2] = -(approach[:2] @ side[:2]) / down
    approach, side = approach / np.linalg.norm(approach), side / np.linalg.norm(side)
    return np.column_stack([approach, side, np.cross(approach, side)])


def felt_from(position: ArrayLike, rotation: Floats, opening: float) -> Floats:
    """The inverse: (8,) numbers of eef_pose_bridge8."""
    yaw = np.arctan2(-rotation[0, 1], rotation[1, 1])
    return np.array([*np.asarray(position), np.sin(yaw), np.cos(yaw), *rotation[:2, 0], opening])
