"""The robot's meshes, checked against the committed manifest."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from simulation.contracts import SimulationError

FOLDER = Path(__file__).parent / "assets"


class AssetError(SimulationError):
    """A mesh is missing or is not the one of the manifest."""


def read_manifest(path: Path) -> dict[str, str]:
    """File name -> sha256 hex, as `sha256sum` writes it."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines() if line.strip())
    return {name: digest for digest, name in rows}


def load_checked(folder: Path, manifest: Path) -> dict[str, bytes]:
    """Every file of the manifest by name. Raises AssetError, which says what to run."""
    found = {}
    for name, wanted in read_manifest(manifest).items():
        path = folder / name
        if not path.is_file():
            raise AssetError(f"mesh {name} is missing from {folder}; run: python scripts/fetch_assets.py")
        content = path.read_bytes()
        got = hashlib.sha256(content).hexdigest()
        if got != wanted:
            raise AssetError(f"mesh {name} has sha256 {got}, expected {wanted}; run: python scripts/fetch_assets.py")
        found[name] = content
    return found


def missing(name: str) -> str:
    """What the folder lacks of its manifest, and what to run; "" if nothing. Contents are checked when loaded."""
    manifest = FOLDER / f"{name}.sha256"
    if not manifest.is_file():
        return f"{manifest.name} is missing from {FOLDER}"
    lacking = [each for each in read_manifest(manifest) if not (FOLDER / name / each).is_file()]
    return f"{name} lacks {', '.join(lacking)}; run: python scripts/fetch_assets.py" if lacking else ""


@cache
def robot_meshes(name: str) -> dict[str, bytes]:
    """The meshes of one robot (`wx250s`): file name -> STL bytes."""
    return load_checked(FOLDER / name, FOLDER / f"{name}.sha256")
