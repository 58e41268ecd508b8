"""Meshes made by turning an outline about an axis. They stand in the XML as numbers: there is no file to load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from simulation.contracts import Floats

SEGMENTS = 28  # round enough at 640 pixels
Outline = Sequence[tuple[float, float]]
"""(radius, height) [m] from the bottom of the axis outwards and up, and back to the axis; inside hollows downwards."""


@dataclass(frozen=True)
class Mesh:
    """`vertices` (n, 3) [m] and `faces` (m, 3), counterclockwise as seen from outside."""

    vertices: Floats
    faces: NDArray[np.int32]

    def add_to(self, spec: mujoco.MjSpec, name: str) -> None:
        added = spec.add_mesh(name=name)
        added.uservert = np.round(self.vertices, 5).ravel()
        added.userface = self.faces.ravel()


def turned(outline: Outline, segments: int = SEGMENTS) -> Mesh:
    """The solid of an outline that begins and ends on the z axis."""
    rings = [
        np.array([[0.0, 0.0, height]]) if radius == 0 else _ring(radius, height, segments) for radius, height in outline
    ]
    firsts = np.cumsum([0, *map(len, rings)])
    bands = [
        _band(firsts[one], len(rings[one]), firsts[one + 1], len(rings[one + 1]), segments)
        for one in range(len(rings) - 1)
    ]
    return Mesh(np.concatenate(rings), np.array([face for band in bands for face in band], dtype=np.int32))


def lying(outline: Outline, segments: int = SEGMENTS) -> Mesh:
    """The same solid along x, with all of its underside on one line, as a carrot lies on a table."""
    mesh = turned(outline, segments)
    x, y, z = mesh.vertices.T
    sag = np.hypot(x, y) - max(radius for radius, _ in outline)
    return Mesh(np.stack([z, x, y + sag], axis=1), mesh.faces)


def _ring(radius: float, height: float, segments: int) -> Floats:
    angle = np.arange(segments) * (2 * np.pi / segments)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(segments, height)], axis=1)


def _band(first: int, count: int, next_first: int, next_count: int, segments: int) -> list[tuple[int, int, int]]:
    """The faces between two rings, either of which may be a single point."""
    faces = []
    for here in range(segments):
        there = (here + 1) % segments
        a, b = first + (here % count), first + (there % count)
        c, d = next_first + (there % next_count), next_first + (here % next_count)
        faces += [(a, b, c)] if a != b else []
        faces += [(a, c, d)] if c != d else []
    return faces
