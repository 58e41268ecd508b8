"""The table top (simulation.worlds.plugins.Scene): two cubes, a cylinder, a sphere and two plates, placed by a seed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

from simulation.contracts import Floats, SimulationError
from simulation.worlds.plugins import Look

id = "table"
VARIANTS = ("", "fifth_object")
LOOK = Look()
STARTS: Mapping[str, Floats] = {}
OBJECTS = ("red_cube", "yellow_cube", "blue_cylinder", "green_sphere")
FIFTH_OBJECT = "purple_cube"
TARGETS = ("left_plate", "right_plate")

REST_HEIGHT = {  # centre over the table when standing on it [m]
    "red_cube": 0.0165,
    "yellow_cube": 0.0165,
    "purple_cube": 0.0165,
    "blue_cylinder": 0.02,
    "green_sphere": 0.0175,
}
# Where things may start [m, base frame]: x lowest, x highest, y lowest, y highest of their centres.
OBJECT_AREA = (0.21, 0.38, -0.13, 0.13)
PLATE_AREA = {"left_plate": (0.26, 0.34, 0.11, 0.15), "right_plate": (0.26, 0.34, -0.15, -0.11)}
OBJECT_GAP = 0.065  # least distance between the centres of two objects, for open fingers to pass
PLATE_GAP = 0.08  # least distance from an object's centre to a plate's: radius 5 cm and half a cube's diagonal
MAX_YAW = np.pi / 4  # all yaws of a cube, which looks the same every quarter turn
MAX_TRIES = 10_000


class LayoutError(SimulationError):
    """No free place was found for an object."""


def objects(variant: str) -> tuple[str, ...]:
    return (*OBJECTS, FIFTH_OBJECT) if variant == "fifth_object" else OBJECTS


def build(variant: str) -> mujoco.MjSpec:
    """`fifth_object` adds a purple cube that no instruction names."""
    spec = mujoco.MjSpec.from_string(Path(__file__).with_suffix(".xml").read_text("utf-8"))
    if variant == "fifth_object":
        spec.add_material(name=FIFTH_OBJECT, rgba=[0.45, 0.16, 0.62, 1.0], specular=0.2, shininess=0.2)
        body = spec.worldbody.add_body(name=FIFTH_OBJECT)
        body.add_freejoint(name=FIFTH_OBJECT)
        size, box = [0.0165, 0.0165, 0.0165], mujoco.mjtGeom.mjGEOM_BOX
        default = spec.find_default("object")
        body.add_geom(default, name=FIFTH_OBJECT, type=box, size=size, mass=0.036, material=FIFTH_OBJECT)
    return spec


def sample(rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
    """Plates and objects within reach, none overlapping; joint name -> positions [m, quaternion]."""
    positions: dict[str, Floats] = {}
    for name, (x, y, z, yaw) in _places(rng, objects(variant)).items():
        if name in TARGETS:
            positions |= {f"{name}_x": np.array([x]), f"{name}_y": np.array([y])}
        else:
            positions[name] = np.array([x, y, z, np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])
    return positions


def _places(rng: np.random.Generator, objects: tuple[str, ...]) -> Mapping[str, Floats]:
    """Name -> (x, y, z, yaw) [m, rad]."""
    places = {name: _uniform(rng, PLATE_AREA[name], 0.0, 0.0) for name in TARGETS}
    for _ in range(MAX_TRIES):
        found = dict(places)
        if all(_add_free(rng, name, found) for name in objects):
            return found
    raise LayoutError(f"no layout for {', '.join(objects)} in {MAX_TRIES} tries")


def _add_free(rng: np.random.Generator, name: str, found: dict[str, Floats], tries: int = 50) -> bool:
    for _ in range(tries):
        place = _uniform(rng, OBJECT_AREA, REST_HEIGHT[name], MAX_YAW)
        gaps = ((PLATE_GAP if other in TARGETS else OBJECT_GAP, spot) for other, spot in found.items())
        if all(np.hypot(*(place[:2] - spot[:2])) > gap for gap, spot in gaps):
            found[name] = place
            return True
    return False


def _uniform(rng: np.random.Generator, area: tuple[float, float, float, float], z: float, max_yaw: float) -> Floats:
    x, y, yaw = rng.uniform(area[0], area[1]), rng.uniform(area[2], area[3]), rng.uniform(-1.0, 1.0) * max_yaw
    return np.array([x, y, z, yaw])
