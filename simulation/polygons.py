"""The order of the flat faces of meshes that touch things, which browsers take over.

MuJoCo's compiler finds the same polygons on every platform, but lists them in the order of a hash table, which is
another one in WebAssembly. Contacts of meshes follow that order, so that without it a grasp is repeated to 0.1 mm only.
"""

from __future__ import annotations

import mujoco
import numpy as np


def polygon_orders(model: mujoco.MjModel) -> dict[str, list[int]]:
    """Mesh -> the rank of each of its polygons among all of the mesh, sorted by their vertices. Only of meshes that
    touch things.
    """
    touching = (model.geom_type == mujoco.mjtGeom.mjGEOM_MESH) & ((model.geom_contype | model.geom_conaffinity) != 0)
    meshes = np.unique(model.geom_dataid[touching]).tolist()
    return {model.mesh(mesh).name: _ranks(_polygons(model, mesh)) for mesh in meshes}


def _polygons(model: mujoco.MjModel, mesh: int) -> list[list[int]]:
    """The vertices of each."""
    first = model.mesh_polyadr[mesh]
    polygons = slice(first, first + model.mesh_polynum[mesh])
    return [
        model.mesh_polyvert[start : start + count].tolist()
        for start, count in zip(model.mesh_polyvertadr[polygons], model.mesh_polyvertnum[polygons], strict=True)
    ]


def _ranks(polygons: list[list[int]]) -> list[int]:
    ranks = [0] * len(polygons)
    for rank, polygon in enumerate(sorted(range(len(polygons)), key=polygons.__getitem__)):
        ranks[polygon] = rank
    return ranks
