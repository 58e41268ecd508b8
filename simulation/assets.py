"""The files of robots and scenes, checked against manifests: the committed ones, and those of optional installs."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from pathlib import Path

from simulation.contracts import SimulationError

FOLDER = Path(__file__).parent / "assets"
LIBERO = "ARENA_LIBERO"
"""The variable that names another folder of LIBERO's files; empty: there are none."""
MADE = Path(__file__).parent.parent / "build" / "libero" / "assets"
OPTIONAL = {"panda": "make libero", "libero": "make libero"}
"""Folders that an optional install makes -> what to run for them. Their manifests stand beside them."""
USUAL = "python scripts/fetch_assets.py"


class AssetError(SimulationError):
    """A mesh is missing or is not the one of the manifest."""


def read_manifest(path: Path) -> dict[str, str]:
    """File name -> sha256 hex, as `sha256sum` writes it."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines() if line.strip())
    return {name: digest for digest, name in rows}


def home_of(name: str) -> Path:
    """Where the folder of this name and its manifest are."""
    return libero_folder() if name in OPTIONAL else FOLDER


def libero_folder() -> Path:
    """Where `make libero` puts what it makes. It need not exist."""
    named = os.environ.get(LIBERO)
    return MADE if named is None else Path(named or os.devnull)


def load_checked(folder: Path, manifest: Path, remedy: str = USUAL) -> dict[str, bytes]:
    """Every file of the manifest by name. Raises AssetError, which says what to run (`remedy`)."""
    found = {}
    for name, wanted in read_manifest(manifest).items():
        path = folder / name
        if not path.is_file():
            raise AssetError(f"mesh {name} is missing from {folder}; run: {remedy}")
        content = path.read_bytes()
        got = hashlib.sha256(content).hexdigest()
        if got != wanted:
            raise AssetError(f"mesh {name} has sha256 {got}, expected {wanted}; run: {remedy}")
        found[name] = content
    return found


def missing(name: str) -> str:
    """What the folder lacks of its manifest, and what to run; "" if nothing. Contents are checked when loaded."""
    home, remedy = home_of(name), OPTIONAL.get(name, USUAL)
    manifest = home / f"{name}.sha256"
    if not manifest.is_file():
        told = f"; run: {remedy}" if name in OPTIONAL else ""
        return f"{manifest.name} is missing from {home}{told}"
    lacking = [each for each in read_manifest(manifest) if not (home / name / each).is_file()]
    return f"{name} lacks {', '.join(lacking)}; run: {remedy}" if lacking else ""


@cache
def robot_meshes(name: str) -> dict[str, bytes]:
    """The files of one robot or scene (`wx250s`): file name -> bytes, of meshes STL's."""
    home = home_of(name)
    if name in OPTIONAL and (reason := missing(name)):
        raise AssetError(reason)
    return load_checked(home / name, home / f"{name}.sha256", OPTIONAL.get(name, USUAL))
