"""Makes the Franka's slim meshes and the kitchen's files of the wheel of gymnasium-robotics, and checks all by their
SHA-256.

`scripts/fetch_assets.py` runs it. Without these files the arena runs, and offers no world of this robot.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

from simulation.fetching.files import ASSETS, Wheel, fetch_from
from simulation.fetching.slim_stl import slim, stl_of, triangles_of

PACKAGE, VERSION = "gymnasium-robotics", "1.4.2"
WHEEL = "a1743530431cb377e6b3b956d284bc96436fc68bac1648ef205054c178e7dc4b"
"""SHA-256 of the wheel."""
INSIDE = "gymnasium_robotics/envs/assets/kitchen_franka/"
SEEN, HULLS, KITCHEN = "franka_assets/meshes/visual", "franka_assets/meshes/collision", "kitchen_assets/meshes"
CELL_M = 0.01  # in which vertices of the robot become one
MESHES = (
    "burnerplate", "cabinetbase", "countertop", "faucet", "hood", "kettle", "lightswitchbase", "micro", "microbutton",
    "microdoor", "microfeet", "microwindow", "oventop", "ovenwindow", "stoverim",
)  # fmt: skip
"""Of the kitchen, those that something is made of."""
LICENCE = f"gymnasium_robotics-{VERSION}.dist-info/licenses/LICENSE"
FOLDER, MANIFEST = ASSETS / "kitchen", ASSETS / "kitchen.sha256"


def fetch() -> str:
    """Returns what is wrong; "" if nothing."""
    return fetch_from(Wheel(PACKAGE, VERSION, WHEEL), FOLDER, MANIFEST, make)


def make(wheel: Path) -> None:
    """Write the models, the licence and the meshes, which are `NAME_seen.stl` where they are slim."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if name.startswith(INSIDE):
                _write(name.removeprefix(INSIDE), archive.read(name))
        (FOLDER / "LICENSE.gymnasium-robotics").write_bytes(archive.read(LICENCE))


def _write(name: str, content: bytes) -> None:
    """One file of the wheel, if it is of use."""
    folder, _, file = name.rpartition("/")
    stem = Path(file).stem
    if folder == SEEN and stem != "finger":
        slimmed = slim(triangles_of(file, content), CELL_M)
        (FOLDER / f"{stem}_seen.stl").write_bytes(stl_of(slimmed))
    elif folder == HULLS or (folder == KITCHEN and stem in MESHES) or file.endswith("chain.xml"):
        (FOLDER / file).write_bytes(content)
