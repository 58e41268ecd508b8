"""Textures of new coordinates, from the colours of places in space."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import distance_transform_edt
from scipy.spatial import cKDTree

from simulation.contracts import Floats

Picture = NDArray[np.uint8]
EDGE = 1e-6  # how far outside a triangle a pixel's middle may be


def looked_up(texture: Picture, uv: Floats) -> Picture:
    """The colours (n, 3) of a texture (h, w, 3) at coordinates (n, 2) from the lower left corner, which repeat."""
    height, width = texture.shape[:2]
    columns = np.floor(uv[:, 0] * width).astype(int) % width
    rows = np.floor((1 - uv[:, 1]) * height).astype(int) % height
    found: Picture = texture[rows, columns]
    return found


def bake(triangles: Floats, uv: Floats, places: Floats, colours: Picture, pixels: int) -> Picture:
    """A texture (pixels, pixels, 3) for triangles (m, 3, 3) with coordinates (m, 3, 2): each pixel has the colour of
    the place (n, 3) that is nearest to it. Pixels between the charts repeat the nearest chart.
    """
    where = np.full((pixels, pixels, 3), np.nan)
    for triangle, corners in zip(triangles, uv, strict=True):
        _draw(where, triangle, corners * pixels)
    known = np.isfinite(where[..., 0])
    picture = np.zeros((pixels, pixels, 3), np.uint8)
    picture[known] = colours[cKDTree(places).query(where[known])[1]]
    rows, columns = distance_transform_edt(~known, return_distances=False, return_indices=True)
    filled: Picture = picture[rows, columns][::-1].copy()  # row 0 of a picture is its top
    return filled


def palette_png(picture: Picture, colours: int = 256) -> bytes:
    """A PNG with a palette: a quarter of the bytes, with an error that shadows hide."""
    image = Image.fromarray(picture).quantize(colours, dither=Image.Dither.NONE)
    out = BytesIO()
    image.save(out, "png", optimize=True)
    return out.getvalue()


def _draw(where: Floats, triangle: Floats, corners: Floats) -> None:
    """Write the place of every pixel whose middle is in the triangle with these corners (3, 2) [pixels]."""
    low = np.maximum(np.floor(corners.min(0) - 0.5).astype(int), 0)
    high = np.minimum(np.ceil(corners.max(0) + 0.5).astype(int), len(where))
    x, y = np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1]))
    middles = np.stack([x.ravel() + 0.5, y.ravel() + 0.5], 1)
    sides = np.stack([corners[1] - corners[0], corners[2] - corners[0]], 1)
    if not len(middles) or abs(np.linalg.det(sides)) < 1e-12:
        return
    b, c = np.linalg.solve(sides, (middles - corners[0]).T)
    shares = np.stack([1 - b - c, b, c], 1)
    inside = (shares > -EDGE).all(1)
    where[y.ravel()[inside], x.ravel()[inside]] = shares[inside] @ triangle
