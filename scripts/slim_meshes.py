"""Writes a model with slim meshes: `scripts/slim_meshes.py robot.xml build/slim --share 0.1`.

Inertia is written out first, and things collide with the hulls of the original meshes, so that nothing moves otherwise.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import mujoco

BASE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(BASE))

from simulation.slimming import Slimmed, SlimmingError, slim_spec  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="an MJCF file")
    parser.add_argument("out", type=Path, help="folder for the model and its files")
    parser.add_argument("--share", type=float, default=0.1, help="of the faces of each mesh, 0..1")
    parser.add_argument("--fewest", type=int, default=200, help="faces that each mesh keeps at least")
    parser.add_argument("--texture", type=int, default=256, help="width and height of baked textures [pixels]")
    options = parser.parse_args()
    try:
        spec = opened(options.model)
        found = slim_spec(spec, options.share, options.fewest, options.texture)
        write(spec, options.out, options.model.name)
    except (SlimmingError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print("\n".join(table(found)))
    return 0


def opened(path: Path) -> mujoco.MjSpec:
    """With all files as assets, by the names that the model gives them."""
    spec = mujoco.MjSpec.from_file(str(path))
    meshes = {mesh.file: path.parent / spec.meshdir / mesh.file for mesh in spec.meshes if mesh.file}
    textures = {each.file: path.parent / spec.texturedir / each.file for each in spec.textures if each.file}
    spec.assets = {name: file.read_bytes() for name, file in (meshes | textures).items()}
    return spec


def write(spec: mujoco.MjSpec, folder: Path, name: str) -> None:
    """The XML, and each file that it still names."""
    spec.meshdir = spec.texturedir = ""
    spec.compile()
    named = {each.file for each in (*spec.meshes, *spec.textures) if each.file}
    for file in sorted(named):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(spec.assets[file])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(spec.to_xml(), "utf-8")


def table(found: list[Slimmed]) -> list[str]:
    rows = [(each.name, each.faces_before, each.faces_after, each.bytes_before, each.bytes_after) for each in found]
    total = ("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])) if rows else ("all", 0, 0, 0, 0)
    head = f"{'mesh':32}{'faces':>18}{'kB':>18}"
    return [head, *(f"{n:32}{a:9} ->{b:6}{c / 1e3:10.1f} ->{d / 1e3:6.1f}" for n, a, b, c, d in [*rows, total])]


if __name__ == "__main__":
    sys.exit(main())
