"""What a scene bundle is made of, as one hash: as long as it stays, the bundle need not be made again."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from simulation import assets, catalogue
from simulation.worlds import engine_version

ROOT = Path(__file__).parent
START = "simulation.bundle"
"""The module that writes bundles: what it imports, and what that imports in turn, can change one."""
ROWS = ("robots", "scenes", "library")
"""The catalogue's files that say what is in a world."""


def inputs_of(robot_id: str, scene_id: str) -> str:
    """The hash of the world's files, of the code and catalogue that make a bundle of them, and of the engine."""
    folders = [folder for folder in (catalogue.robot(robot_id).assets, catalogue.scene(scene_id).assets) if folder]
    manifests = [assets.home_of(folder) / f"{folder}.sha256" for folder in folders]
    parts = [_code(), engine_version(), *(path.read_text("utf-8") for path in manifests if path.is_file())]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@cache
def _code() -> str:
    data = [ROOT / "catalogue_data" / f"{name}.yaml" for name in ROWS]
    data += sorted((ROOT / "worlds").glob("*.xml"))  # the parts of scenes that are written by hand
    found = hashlib.sha256()
    for path in [*sorted(sources_of(START)), *data]:
        found.update(path.read_bytes())
    return found.hexdigest()


def sources_of(module: str) -> set[Path]:
    """The file of a module of `simulation`, and those of all that it imports of it, however deep."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        path = _file(waiting.pop())
        if path and path not in found:
            found.add(path)
            waiting += _imports(path)
    return found


def _imports(path: Path) -> Iterator[str]:
    """Modules, and names that may be modules."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == ROOT.name:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.partition(".")[0] == ROOT.name)


def _file(module: str) -> Path | None:
    place = ROOT.parent.joinpath(*module.split("."))
    return next((path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()), None)
