"""Manifests of robots' files, and wheels without their dependencies. Needs only the standard library and pip."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"


@dataclass(frozen=True)
class Wheel:
    """A package of the index, and the SHA-256 of its wheel."""

    package: str
    version: str
    sha256: str


def fetch_from(wheel: Wheel, folder: Path, manifest: Path, make: Callable[[Path], None]) -> str:
    """Have `make` fill the folder from the downloaded wheel, unless it is as the manifest says. Returns what is wrong;
    "" if nothing.
    """
    wanted = read_manifest(manifest)
    if not differing(folder, wanted):
        return ""
    with tempfile.TemporaryDirectory() as work:
        found = download(Path(work), wheel.package, wheel.version)
        if found is None:
            command = f"{sys.executable} -m pip download --no-deps {wheel.package}=={wheel.version}"
            return f"could not download {wheel.package} {wheel.version}; see why with: {command}"
        got = sha256(found)
        if got != wheel.sha256:
            return f"{found.name} has sha256 {got}, expected {wheel.sha256}"
        make(found)
    wrong = differing(folder, wanted)
    return f"{', '.join(wrong)} differ from {manifest}; delete {folder} and run this again" if wrong else ""


def read_manifest(path: Path) -> dict[str, str]:
    """File name -> sha256 hex, as `sha256sum` writes it."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines() if line.strip())
    return {name: digest for digest, name in rows}


def differing(folder: Path, wanted: dict[str, str]) -> list[str]:
    """Names of files that are missing or have other content."""
    return [name for name, digest in wanted.items() if sha256(folder / name) != digest]


def sha256(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def download(folder: Path, package: str, version: str) -> Path | None:
    """Download the wheel. Returns its path, or None if pip failed; pip writes to the terminal."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    # The meshes do not depend on the Python version that the package requires.
    command += ["--only-binary", ":all:", "--ignore-requires-python", "--dest", str(folder), f"{package}=={version}"]
    done = subprocess.run(command, check=False)
    return next(folder.glob("*.whl"), None) if done.returncode == 0 else None
