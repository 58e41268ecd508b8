"""Slims the scenes that `export.py` has made, and writes what the arena loads: `panda/`, `libero/`, and their hashes.

    .venv/bin/python scripts/libero/convert.py build/libero/made build/libero/assets

The robot is taken out of the scenes, because it is the same in all of them. What many scenes have is slimmed once.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
from robosuite_xml import name_of, split
from rows import STEPS, write_catalogue
from slim_scene import remembering, slimmed, write_model


def main(made: Path, out: Path) -> None:
    facts = [json.loads(path.read_text()) for path in sorted(made.glob("*.json"))]
    if not facts:
        sys.exit(f"no scenes in {made}; run export.py first")
    facts.sort(key=lambda fact: (list(STEPS).index(fact["suite"]), fact["number"]))
    slimmer = remembering()
    scenes = out / "libero"
    scenes.mkdir(parents=True, exist_ok=True)
    bases = {}
    for fact in facts:
        name = name_of(fact)
        scene, robot, bases[name] = split(ET.parse(made / f"{name}.xml").getroot(), fact)  # noqa: S314 - export.py wrote it
        if not (out / "panda" / "panda.xml").is_file():
            write_model(slimmed(robot, slimmer), out / "panda", "panda.xml")
        if not (scenes / f"{name}.xml").is_file():
            write_model(slimmed(scene, slimmer), scenes, f"{name}.xml")
        np.save(scenes / f"{name}.npy", np.load(made / f"{name}.npy", allow_pickle=False))
        print(f"slimmed {name}", flush=True)
    write_catalogue(scenes, facts, bases)
    for folder in ("panda", "libero"):
        write_sums(out, folder)


def write_sums(out: Path, folder: str) -> None:
    """The manifest of a folder, as `sha256sum` writes it. Files that nothing names are removed."""
    here = out / folder
    named = {path.name for path in here.glob("*") if path.suffix in (".xml", ".npy", ".yaml", ".json")}
    for path in here.glob("*.xml"):
        named |= set(re.findall(r'file[a-z]*="([^"]+)"', path.read_text("utf-8")))
    for path in here.iterdir():
        if path.name not in named:
            path.unlink()
    lines = [f"{hashlib.sha256((here / name).read_bytes()).hexdigest()}  {name}" for name in sorted(named)]
    (out / f"{folder}.sha256").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
