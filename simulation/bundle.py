"""The files that a browser loads to show a scene: flattened XML, meshes, and a manifest that names and hashes them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import mujoco

from simulation.contracts import Numbers
from simulation.control.motors import Motor
from simulation.environment import Environment
from simulation.polygons import polygon_orders
from simulation.view_format import ROWS_PER_CHUNK, VIEW_HZ
from simulation.worlds import engine_version, load_world

MANIFEST = "manifest.json"
HOME_SEED = 0  # the layout shown before there is anything to replay


def write_scene_bundle(robot_id: str, scene_id: str, folder: Path) -> dict[str, Any]:
    """Fill `folder` and return the manifest, which is written last.

    File names contain the content's hash, so that the content of a name never changes. Files of older scenes are
    removed. `assets[].name` is a mesh's name in the XML, `assets[].file` its file in the folder.
    """
    world = load_world(robot_id, scene_id)
    folder.mkdir(parents=True, exist_ok=True)
    xml_file = _write(folder, "scene.xml", world.xml.encode())
    assets = [
        {"name": name, "file": _write(folder, name, content), "sha256": _sha256(content), "bytes": len(content)}
        for name, content in sorted(world.meshes.items())
    ]
    manifest = manifest_of(Environment(robot_id, scene_id)) | {"xml": xml_file, "assets": assets}
    _write_whole(folder / MANIFEST, json.dumps(manifest, indent=1).encode())
    keep = {MANIFEST, xml_file, *(asset["file"] for asset in assets)}
    for path in folder.iterdir():
        if path.name not in keep:
            path.unlink()
    return manifest


def manifest_of(environment: Environment) -> dict[str, Any]:
    """What a browser has to know of a world beside its files."""
    world = environment.world
    model = world.model
    controller, robot = environment.controller, world.robot
    return {
        "robot_id": world.robot_id,
        "scene_id": world.scene_id,
        "scene_hash": world.scene_hash,
        "engine_version": engine_version(),
        "nq": model.nq,
        "nv": model.nv,
        "nu": model.nu,
        "control_hz": world.control_hz,
        "timestep": model.opt.timestep,
        # Physics between two records: the command of actuator i goes from control[k][column] to control[k + 1][column]
        # in `pieces` equal steps, each held for `substeps`, or, if it is not ramped, is control[k + 1][column] from the
        # first on (see simulation.control.motors.Ramp). With a `stride` piece p, from 0, has control[k + 1][column +
        # p * stride].
        "ramp": {"pieces": robot.PIECES, "substeps": world.substeps},
        "motors": [_motor(motor) for motor in controller.motors],
        "controller": controller.id,
        "control_size": len(controller.numbers),
        "control": _numbers(controller.numbers),
        "action_space": robot.ACTION.id,
        "action_size": len(robot.ACTION),
        "action": _numbers(robot.ACTION),
        # Rows of `view.bin` and of live frames: int16, times `scale` they are qpos (see simulation.view_format). A
        # chunk of `rows_per_step` rows is a step of the clock that visitors see, whatever the control rate.
        "view": {"rate_hz": VIEW_HZ, "rows_per_step": ROWS_PER_CHUNK, "scale": world.view_scale.tolist()},
        "home": environment.reset(HOME_SEED).qpos.tolist(),
        "cameras": [_camera(model, index) for index in range(model.ncam)],
        "presets": [model.camera(index).name for index in range(model.ncam)],
        "objects": list(world.objects),
        # Names that a viewer uses: the tool point, the finger pads, and the prefix of the robot's bodies.
        "tool_site": world.tool_site,
        "pads": list(world.pads),
        "robot_prefix": robot.PREFIX,
        # Contacts follow it (see simulation.polygons). Few scenes have meshes that touch things.
        **({"polygons": orders} if (orders := polygon_orders(model)) else {}),
        "targets": list(world.targets),
    }


def _motor(motor: Motor) -> dict[str, Any]:
    told = {"column": motor.column, "ramped": motor.ramped}
    return told | {"stride": motor.stride} if motor.stride else told


def _numbers(numbers: Numbers) -> list[dict[str, str]]:
    return [{"name": name, "unit": unit} for name, unit in zip(numbers.names, numbers.units, strict=True)]


def _camera(model: mujoco.MjModel, index: int) -> dict[str, Any]:
    """`quat` is w, x, y, z; MuJoCo's cameras look along -z with y up; `fovy` is vertical, in degrees."""
    camera = model.camera(index)
    return {
        "name": camera.name,
        "pos": camera.pos.tolist(),
        "quat": camera.quat.tolist(),
        "fovy": float(model.cam_fovy[index]),
    }


def _write(folder: Path, name: str, content: bytes) -> str:
    hashed = hashed_name(name, content)
    _write_whole(folder / hashed, content)
    return hashed


def hashed_name(name: str, content: bytes) -> str:
    """The file's name with the hash of its content in it."""
    stem, _, suffix = name.rpartition(".")
    return f"{stem}.{_sha256(content)[:12]}.{suffix}"


def _write_whole(path: Path, content: bytes) -> None:
    fresh = path.with_name(f".{path.name}")
    fresh.write_bytes(content)
    fresh.replace(path)


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
