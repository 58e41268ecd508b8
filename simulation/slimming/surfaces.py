"""One surface with fewer faces: welded, simplified, and its texture baked anew."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

import fast_simplification
import numpy as np
import trimesh
import xatlas
from numpy.typing import NDArray

from simulation.contracts import Floats
from simulation.slimming.baking import Picture, bake, looked_up

WELD = 1e-6  # vertices closer than this share of the surface's size are one
FEWEST = 4  # faces of a closed surface


@dataclass(frozen=True)
class Surface:
    """`vertices` (n, 3) [m], `faces` (m, 3) indices of them. `uv` (n, 2), from the lower left corner, 0..1, and
    `texture` (h, w, 3) uint8 are both there or both None.
    """

    vertices: Floats
    faces: NDArray[np.int64]
    uv: Floats | None = None
    texture: Picture | None = None

    def to_msh(self) -> bytes:
        """In MuJoCo's own form (docs: XML reference, mesh): four int32 counts, then float32 and int32 arrays."""
        uv = np.empty((0, 2)) if self.uv is None else self.uv
        counts = np.array([len(self.vertices), 0, len(uv), len(self.faces)], "<i4")
        flipped = np.column_stack([uv[:, 0], 1.0 - uv[:, 1]])  # MuJoCo counts rows of a texture from the top
        return b"".join(
            part.tobytes()
            for part in (counts, self.vertices.astype("<f4"), flipped.astype("<f4"), self.faces.astype("<i4"))
        )


def read_surface(content: bytes, kind: str, texture: Picture | None = None) -> Surface:
    """From the bytes of a file of this `kind`: "stl", "obj" or MuJoCo's own "msh". Without a `texture` its coordinates
    are dropped. Raises ValueError.
    """
    if kind == "msh":
        return _read_msh(content, texture)
    mesh: Any = trimesh.load(BytesIO(content), file_type=kind, process=False, force="mesh")
    uv = getattr(mesh.visual, "uv", None) if texture is not None else None
    bare = Surface(np.array(mesh.vertices, np.float64), np.array(mesh.faces, np.int64))
    return bare if uv is None else replace(bare, uv=np.array(uv, np.float64), texture=texture)


def _read_msh(content: bytes, texture: Picture | None) -> Surface:
    """The reverse of `Surface.to_msh`, which writes no normals."""
    points, normals, seen, faces = np.frombuffer(content, "<i4", 4).tolist()
    sizes = [3 * points, 3 * normals, 2 * seen]
    if len(content) != 16 + 4 * (sum(sizes) + 3 * faces):
        raise ValueError(f"expected {16 + 4 * (sum(sizes) + 3 * faces)} bytes, got {len(content)}")
    vertices, _, uv = np.split(np.frombuffer(content, "<f4", sum(sizes), 16).astype(np.float64), np.cumsum(sizes)[:2])
    corners = np.frombuffer(content, "<i4", 3 * faces, 16 + 4 * sum(sizes)).astype(np.int64).reshape(-1, 3)
    bare = Surface(vertices.reshape(-1, 3), corners)
    if texture is None or seen != points:
        return bare
    return replace(bare, uv=uv.reshape(-1, 2) * [1.0, -1.0] + [0.0, 1.0], texture=texture)


def slim(surface: Surface, most_faces: int, texture_px: int = 256) -> Surface:
    """At most about `most_faces` faces; a surface that has no more is only welded. A texture is baked anew, because
    simplifying with the old coordinates tears it.
    """
    if surface.texture is None or surface.uv is None:
        return simplified(welded(surface), most_faces)
    if len(surface.faces) <= most_faces:
        return surface
    bare = simplified(welded(Surface(surface.vertices, surface.faces)), most_faces)
    corners = surface.vertices[surface.faces], surface.uv[surface.faces]
    return _textured(bare, *corners, surface.texture, texture_px)


def hull(surface: Surface) -> Surface:
    """The convex hull, made of vertices of the surface."""
    found = trimesh.convex.convex_hull(surface.vertices)
    return Surface(np.array(found.vertices, float), np.array(found.faces, np.int64))


def welded(surface: Surface) -> Surface:
    """Vertices at one place are one vertex, and faces without an area are gone."""
    size = max(float(np.ptp(surface.vertices, axis=0).max()), 1e-12)
    cells = np.round(surface.vertices / (WELD * size)).astype(np.int64)
    _, first, number = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    faces = number.reshape(-1)[surface.faces]
    real = (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    return Surface(surface.vertices[first], faces[real])


def simplified(surface: Surface, most_faces: int) -> Surface:
    """Without a texture. Keeps faces where the surface is curved."""
    if len(surface.faces) <= most_faces:
        return surface
    count = max(FEWEST, most_faces)
    vertices, faces = fast_simplification.simplify(
        np.ascontiguousarray(surface.vertices, np.float32),
        np.ascontiguousarray(surface.faces, np.int32),
        target_count=count,
    )[:2]
    return Surface(np.asarray(vertices, float), np.asarray(faces, np.int64))


def _textured(bare: Surface, triangles: Floats, at: Floats, texture: Picture, pixels: int) -> Surface:
    """The same faces, cut into charts, with the colours of the nearest places of the original: triangles (m, 3, 3) at
    coordinates (m, 3, 2) of a texture.
    """
    origin, faces, uv = xatlas.parametrize(bare.vertices.astype(np.float32), bare.faces.astype(np.uint32))
    cut = Surface(bare.vertices[origin], faces.astype(np.int64), np.asarray(uv, float))
    places, seen = _sampled(triangles, at)
    picture = bake(cut.vertices[cut.faces], np.asarray(uv)[cut.faces], places, looked_up(texture, seen), pixels)
    return Surface(cut.vertices, cut.faces, cut.uv, picture)


def _sampled(triangles: Floats, uv: Floats, count: int = 300_000) -> tuple[Floats, Floats]:
    """Places (count, 3) spread evenly over triangles (m, 3, 3), with their texture coordinates (count, 2)."""
    random = np.random.default_rng(0)
    sides = triangles[:, 1:] - triangles[:, :1]
    areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    chosen = random.choice(len(triangles), count, p=areas / areas.sum())
    a, b = np.sqrt(random.random(count)), random.random(count)
    shares = np.stack([1 - a, a * (1 - b), a * b], 1)[:, :, None]
    return (triangles[chosen] * shares).sum(1), (uv[chosen] * shares).sum(1)
