"""Scenes and the robot with slim meshes and small pictures, written as files that are named by their content."""

from __future__ import annotations

import hashlib
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from robosuite_xml import Node, found

from simulation.slimming import slim_spec
from simulation.slimming.baking import palette_png
from simulation.slimming.surfaces import Surface, slim

SHARE, FEWEST, TEXTURE_PX, PICTURE_PX = 0.08, 250, 256, 256


def slimmed(root: Node, slimmer: Callable[..., Surface]) -> mujoco.MjSpec:
    """With slim meshes and small pictures, all as assets by names that tell their content."""
    compiler = found(root, "compiler")
    compiler.attrib.pop("meshdir", None)
    assets: dict[str, bytes] = {}
    for asset in found(root, "asset"):
        for key in ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback"):
            if asset.get(key):
                path = Path(asset.get(key, ""))
                name = f"{hashlib.sha256(str(path).encode()).hexdigest()[:8]}-{path.name}"
                assets[name] = path.read_bytes()
                asset.set(key, name)
    spec = mujoco.MjSpec.from_string(ET.tostring(root, "unicode"), assets=assets)
    spec.assets = assets
    slim_spec(spec, SHARE, FEWEST, TEXTURE_PX, slimmer)
    shown = {geom.meshname for geom in spec.geoms if geom.meshname}
    for mesh in [each for each in spec.meshes if each.name not in shown]:
        spec.delete(mesh)
    worn = {geom.material for geom in spec.geoms if geom.material}
    for material in [each for each in spec.materials if each.name not in worn]:
        spec.delete(material)
    used = {name for each in spec.materials for name in each.textures if name}
    for texture in [each for each in spec.textures if each.name and each.name not in used]:
        spec.delete(texture)
    for texture in spec.textures:
        if texture.file and not texture.file.endswith("-slim.png"):
            spec.assets[texture.file] = small(spec.assets[texture.file])
    return spec


def small(content: bytes) -> bytes:
    """A picture of at most PICTURE_PX in each direction."""
    picture = Image.open(BytesIO(content)).convert("RGB")
    picture.thumbnail((PICTURE_PX, PICTURE_PX), Image.Resampling.LANCZOS)
    return palette_png(np.asarray(picture))


def remembering() -> Callable[..., Surface]:
    """`slim`, which answers at once what it was asked before: things are in many scenes."""
    known: dict[str, Surface] = {}

    def ask(surface: Surface, most_faces: int, texture_px: int) -> Surface:
        digest = hashlib.sha256(f"{most_faces} {texture_px}".encode())
        for part in (surface.vertices, surface.faces, surface.uv, surface.texture):
            digest.update(b"none" if part is None else np.ascontiguousarray(part).tobytes())
        key = digest.hexdigest()
        if key not in known:
            known[key] = slim(surface, most_faces, texture_px)
        return known[key]

    return ask


def write_model(spec: mujoco.MjSpec, folder: Path, name: str) -> None:
    """The XML last, and each file that it names, by its content."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in (*spec.meshes, *spec.textures):
        if each.file:
            content = spec.assets[each.file]
            stem = re.sub(r"[^A-Za-z0-9]+", "-", Path(each.file).stem.removesuffix("-slim"))
            file = f"{stem}.{hashlib.sha256(content).hexdigest()[:12]}{Path(each.file).suffix}"
            spec.assets[file] = content
            each.file = file
            (folder / file).write_bytes(content)
    spec.compile()
    fresh = folder / f"{name}.part"
    fresh.write_text(spec.to_xml(), "utf-8")
    fresh.replace(folder / name)
