"""The catalogue's rows of optional installs: robots, scenes and tasks that are there once `make libero` has run.

They are read as those of `catalogue_data/` are. A file that is not the one of the manifest is refused by its name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cache

from simulation import assets
from simulation.catalogue_rows import CatalogueError, Row, read_rows

REMEDY = "make libero"
ROBOT = """
- id: panda
  name: Franka Panda
  description: A seven-joint arm with a two-finger hand, on a stand or on the floor.
  control_hz: 20
  action_space: eef_delta_libero7
  action: "dx, dy, dz of 0.05 m, rotation vector of 0.5 rad in the base frame, gripper -1 open .. 1 closed"
  proprioception: libero_state8
  longest_chunk: 64
  assets: panda
  cameras: [{name: wrist, height: 640, width: 640}]
  scenes: [SCENES]
"""


def is_installed() -> bool:
    """Whether LIBERO's scenes are on this machine."""
    return (assets.libero_folder() / "libero.sha256").is_file()


def hint(*names: str) -> str:
    """What to say of unknown names beside the known ones: what to type where an optional install would have them."""
    meant = any(name in ("panda", "libero") or name.startswith("libero_") for name in names)
    return f"; LIBERO is not installed; run: {REMEDY}" if meant and not is_installed() else ""


def rows(kind: str) -> list[Row]:
    """Of "robots", "scenes" or "tasks"; none without an install. Raises CatalogueError."""
    if not is_installed():
        return []
    if kind == "robots":
        names = ", ".join(str(row["id"]) for row in rows("scenes"))
        return read_rows(ROBOT.replace("SCENES", names), "robots of LIBERO")
    return _read(kind)


@cache
def _read(kind: str) -> list[Row]:
    home = assets.libero_folder()
    name = f"{kind}.yaml"
    wanted = assets.read_manifest(home / "libero.sha256").get(name)
    path = home / "libero" / name
    try:
        content = path.read_bytes()
    except OSError:
        raise CatalogueError(f"{path} is missing; run: {REMEDY}") from None
    got = hashlib.sha256(content).hexdigest()
    if got != wanted:
        raise CatalogueError(f"{path} has sha256 {got}, expected {wanted}; run: {REMEDY}")
    return read_rows(content.decode(), f"libero/{name}")


def suites(scene_ids: Iterable[str]) -> dict[str, list[str]]:
    """Suite ("spatial") -> its scenes in their order."""
    found: dict[str, list[str]] = {}
    for scene_id in scene_ids:
        if scene_id.startswith("libero_"):
            suite, _, _ = scene_id.removeprefix("libero_").rpartition("_")
            found.setdefault(suite, []).append(scene_id)
    return found
