"""Makes meshes small with the standard library alone: vertices in one cell of a grid become one, their mean."""

from __future__ import annotations

import struct
from itertools import pairwise

Vector = tuple[float, float, float]
Triangle = tuple[Vector, Vector, Vector]


def triangles_of(name: str, content: bytes) -> list[Triangle]:
    """Of an OBJ or a binary STL. Raises ValueError for another kind of file."""
    if name.endswith(".obj"):
        return _of_obj(content.decode("utf-8"))
    if name.endswith(".stl"):
        return _of_stl(content)
    raise ValueError(f"{name}: expected .obj or .stl")


def slim(triangles: list[Triangle], cell: float) -> list[Triangle]:
    """With one vertex per cell of a grid of this width [of the file's unit]. What collapses is left out."""
    members: dict[tuple[int, ...], list[Vector]] = {}
    for corner in sorted({corner for triangle in triangles for corner in triangle}):
        members.setdefault(_cell_of(corner, cell), []).append(corner)
    means = {key: _mean(found) for key, found in members.items()}
    kept: dict[tuple[tuple[int, ...], ...], Triangle] = {}
    for triangle in triangles:
        keys = tuple(_cell_of(corner, cell) for corner in triangle)
        if len(set(keys)) == 3:
            kept.setdefault(tuple(sorted(keys)), (means[keys[0]], means[keys[1]], means[keys[2]]))
    return list(kept.values())


def stl_of(triangles: list[Triangle]) -> bytes:
    """A binary STL without normals, which MuJoCo makes itself."""
    rows = (struct.pack("<12fH", 0, 0, 0, *a, *b, *c, 0) for a, b, c in triangles)
    return bytes(80) + struct.pack("<I", len(triangles)) + b"".join(rows)


def _cell_of(corner: Vector, cell: float) -> tuple[int, ...]:
    return tuple(round(number / cell) for number in corner)


def _mean(corners: list[Vector]) -> Vector:
    x, y, z = (sum(column) / len(corners) for column in zip(*corners, strict=True))
    return x, y, z


def _of_obj(text: str) -> list[Triangle]:
    corners: list[Vector] = []
    found: list[Triangle] = []
    for line in text.splitlines():
        kind, *rest = line.split() or [""]
        if kind == "v":
            corners.append((float(rest[0]), float(rest[1]), float(rest[2])))
        elif kind == "f":
            points = [corners[int(each.split("/")[0]) - 1] for each in rest]
            found += [(points[0], one, other) for one, other in pairwise(points[1:])]
    return found


def _of_stl(content: bytes) -> list[Triangle]:
    (count,) = struct.unpack_from("<I", content, 80)
    rows = (struct.unpack_from("<12f", content, 84 + 50 * number) for number in range(count))
    return [(row[3:6], row[6:9], row[9:12]) for row in rows]
