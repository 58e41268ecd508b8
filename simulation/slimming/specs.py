"""A whole model with slim meshes: inertia and collisions stay exactly as they were."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import PurePath

import mujoco
import numpy as np
from PIL import Image

from simulation.contracts import SimulationError
from simulation.slimming.baking import Picture, palette_png
from simulation.slimming.surfaces import Surface, hull, read_surface, slim

KINDS = ("stl", "obj", "msh")
SOLID = "_solid"  # of the name of a hull
LOOKS = ("rgba", "emission", "specular", "shininess", "reflectance", "metallic", "roughness", "texrepeat", "texuniform")
HIDDEN = 3  # the first group of geoms that viewers do not show


class SlimmingError(SimulationError, ValueError):
    """A mesh that cannot be read, or a file that is not there."""


@dataclass(frozen=True)
class Slimmed:
    """What became of one mesh. `solid`: things collide with it, so that its hull, with which alone MuJoCo collides,
    stands beside the slim one. Bytes are of both.
    """

    name: str
    faces_before: int
    faces_after: int
    bytes_before: int
    bytes_after: int
    solid: bool


def slim_spec(
    spec: mujoco.MjSpec,
    share: float,
    fewest: int = 200,
    texture_px: int = 256,
    slimmer: Callable[[Surface, int, int], Surface] = slim,
) -> list[Slimmed]:
    """Slim every mesh file of a model to this share of its faces (0..1), but to no less than `fewest`, in place.

    `slimmer`: another function that does what `slim` does, as one that remembers what it did.
    Meshes and textures must stand in `spec.assets`. Raises SlimmingError before anything is changed.
    """
    if not 0 < share <= 1:
        raise SlimmingError(f"share: expected more than 0 and at most 1, got {share}")
    surfaces = {mesh.name: _read(spec, mesh) for mesh in spec.meshes if mesh.file}
    freeze_inertials(spec)
    found = []
    for name, surface in surfaces.items():
        most = max(fewest, int(share * len(surface.faces)))
        found.append(_replace(spec, name, surface, partial(slimmer, surface, most, texture_px)))
    return found


def freeze_inertials(spec: mujoco.MjSpec) -> None:
    """Write mass, centre and inertia of every body as they are, because a slim mesh would weigh something else."""
    model = spec.copy().compile()
    for body in spec.bodies[1:]:
        index = model.body(body.name).id if body.name else body.id
        body.explicitinertial = True
        body.mass, body.inertia = float(model.body_mass[index]), model.body_inertia[index]
        body.ipos, body.iquat = model.body_ipos[index], model.body_iquat[index]


def _replace(spec: mujoco.MjSpec, name: str, surface: Surface, slimmed: Callable[[], Surface]) -> Slimmed:
    mesh = spec.mesh(name)
    before = len(spec.assets[mesh.file])
    geoms = [geom for geom in spec.geoms if geom.meshname == name]
    if surface.uv is None and _texture_of(spec, geoms):  # laid round the mesh by MuJoCo, and differently round another
        return Slimmed(name, len(surface.faces), len(surface.faces), before, before, False)
    solid = [geom for geom in geoms if geom.contype or geom.conaffinity]
    thin = slimmed()
    size = _write(spec, mesh, thin)
    if solid:
        size += _split(spec, mesh, hull(surface), solid)
    if thin.texture is not None and thin.texture is not surface.texture:
        size += _retexture(spec, [geom for geom in spec.geoms if geom.meshname == name], name, thin.texture)
    return Slimmed(name, len(surface.faces), len(thin.faces), before, size, bool(solid))


def _write(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh, surface: Surface) -> int:
    """Let the mesh be this surface. Returns its bytes."""
    file, content = f"{mesh.name}-slim.msh", surface.to_msh()
    spec.assets[file] = content
    mesh.file, mesh.content_type = file, ""
    mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # a slim mesh need not be closed; nothing weighs by it
    return len(content)


def _split(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh, found: Surface, solid: list[mujoco.MjsGeom]) -> int:
    """Let these geoms collide by the hull, and show the slim mesh where they were seen. Returns the hull's bytes."""
    kept = spec.add_mesh(name=f"{mesh.name}{SOLID}", scale=mesh.scale)
    kept.refpos, kept.refquat = mesh.refpos, mesh.refquat
    for geom in solid:
        if geom.group < HIDDEN:
            shown = {key: getattr(geom, key) for key in ("pos", "quat", "rgba", "material", "group")}
            kind = mujoco.mjtGeom.mjGEOM_MESH
            geom.parent.add_geom(type=kind, meshname=mesh.name, contype=0, conaffinity=0, mass=0.0, **shown)
            geom.group = HIDDEN
        geom.meshname = kept.name
    return _write(spec, kept, found)


def _retexture(spec: mujoco.MjSpec, geoms: list[mujoco.MjsGeom], name: str, picture: Picture) -> int:
    """Show the picture on these geoms alone: others may share their material and its texture. Returns its bytes."""
    file, role = f"{name}-slim.png", int(mujoco.mjtTextureRole.mjTEXROLE_RGB)
    spec.assets[file] = palette_png(picture)
    spec.add_texture(name=f"{name}-slim", type=mujoco.mjtTexture.mjTEXTURE_2D, file=file)
    for material_name in sorted({geom.material for geom in geoms if geom.material}):
        old = spec.material(material_name)
        new = spec.add_material(name=f"{name}-{material_name}", **{look: getattr(old, look) for look in LOOKS})
        textures = list(new.textures)
        textures[role] = f"{name}-slim"
        new.textures = textures
        for geom in geoms:
            if geom.material == material_name:
                geom.material = new.name
    return len(spec.assets[file])


def _read(spec: mujoco.MjSpec, mesh: mujoco.MjsMesh) -> Surface:
    kind = PurePath(mesh.file).suffix.removeprefix(".").lower()
    if kind not in KINDS:
        raise SlimmingError(f"mesh {mesh.name}: {mesh.file}: expected a file of kind {' or '.join(KINDS)}")
    if mesh.file not in spec.assets:
        raise SlimmingError(f"mesh {mesh.name}: {mesh.file} is not among the assets of the model")
    texture = _texture_of(spec, [geom for geom in spec.geoms if geom.meshname == mesh.name])
    try:
        surface = read_surface(spec.assets[mesh.file], kind, _picture(spec, texture) if texture else None)
    except (ValueError, IndexError, KeyError) as error:
        raise SlimmingError(f"mesh {mesh.name}: {mesh.file} cannot be read: {error}") from None
    if not len(surface.faces):
        raise SlimmingError(f"mesh {mesh.name}: {mesh.file} cannot be read: it has no faces")
    return surface


def _texture_of(spec: mujoco.MjSpec, geoms: list[mujoco.MjsGeom]) -> mujoco.MjsTexture | None:
    """The texture file that geoms of a mesh show, if they show one."""
    materials = {geom.material for geom in geoms if geom.material}
    named = {role for name in materials for role in spec.material(name).textures if role}
    textures = [spec.texture(name) for name in sorted(named)]
    return next((texture for texture in textures if texture.file), None)


def _picture(spec: mujoco.MjSpec, texture: mujoco.MjsTexture) -> Picture:
    if texture.file not in spec.assets:
        raise SlimmingError(f"texture {texture.name}: {texture.file} is not among the assets of the model")
    return np.asarray(Image.open(BytesIO(spec.assets[texture.file])).convert("RGB"))
