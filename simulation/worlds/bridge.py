"""The four Bridge tasks for which published figures exist, with SimplerEnv's sizes, densities, places and camera.

Source: github.com/simpler-env/ManiSkill2_real2sim (Apache-2.0), commit ef7a4d4: `put_on_in_scene.py` and `base_env.py`
of `envs/custom_scenes`, `agents/configs/widowx/defaults.py`, `data/custom/info_bridge_custom_v0.json`, and for the sink
the heights of `data/custom/models/sink/collision.obj`, from above. Its world is turned into the robot's base frame:
there the robot stands at (0.147, 0.028), at the sink at (0.127, 0.06), and looks along -x.

Ours are shapes of about the same measures, in another engine and another picture: compare orders of policies, not
numbers. The differences: the spoon lies flat and is 20 mm high, not 26; the carrot is 32 mm high, not 38, without its
leaf; neither carrot nor eggplant rolls.

Each has 24 starts. Seed n takes start n modulo 24, in SimplerEnv's order: places change slowest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import atan, degrees, pi

import mujoco
import numpy as np

from simulation.contracts import Floats
from simulation.worlds.layout import bench, standing
from simulation.worlds.parts import Thing
from simulation.worlds.plugins import Look
from simulation.worlds.things import GREEN, YELLOW, carrot, cube, eggplant, plate, spoon, towel

Place = tuple[float, float, float]
"""x, y [m] and yaw [rad] in the base frame."""

STARTS = 24
ROBOT_AT, ROBOT_AT_SINK = (0.147, 0.028), (0.127, 0.06)  # in SimplerEnv's world [m]
TABLE_CAMERA = ((0.0, -0.16, 0.36), (0.8992917, -0.09263245, 0.35892478, 0.23209205))
SINK_CAMERA = ((-0.003, -0.21, 0.39), (-0.907313, 0.0782, -0.36434, -0.194741))
"""Position [m, base frame] and quaternion wxyz, x forwards and z up."""
FOVY, WIDE = (2 * degrees(atan(half / 623.588)) for half in (240, 320))
"""Degrees that its 640 x 480 pictures show upwards and sideways. Camera "published" has the first, for that shape, and
"workspace" the second, so that square pictures show at least as much.
"""
SINK_ARM = np.array([-0.2600599, -0.12875618, 0.04461369, -0.00652761, 1.7033415, -0.26983038])

GRID = [(-1, -1), (-1, 1), (1, -1), (1, 1)]
CENTRE = (-0.16, 0.0)  # of the grids, in SimplerEnv's world [m]
EGGPLANTS = [(-0.105 + x, 0.206 + y) for x in (-0.01, 0.01) for y in (-0.015, -0.005, 0.005, 0.015)]

SINK_AT, SINK_FOOT = (-0.16, 0.13), 0.03  # in SimplerEnv's world, and its underside over the robot's base [m]
BASIN_FLOOR, BASKET_FLOOR, RIM = 0.040, 0.048, 0.098  # heights over the sink's underside [m]
BASKET_SPACE = 0.06  # over the basket's floor, in which an eggplant counts as in it [m]
LINING = 0.006  # thickness of the basket [m]
BASKET = ((-0.060, 0.097), (-0.150, -0.050))
"""x and y of its inside, in the sink's frame [m]. Likewise the blocks around it, with their upper sides."""
BLOCKS = {
    "floor": ((-0.1345, 0.1345), (-0.1965, 0.1965), BASIN_FLOOR),
    "left": ((-0.1345, -0.045), (-0.030, 0.172), RIM),
    "far_left": ((-0.1345, -0.060 - LINING), (-0.150 - LINING, -0.030), RIM),
    "right": ((0.097, 0.1345), (-0.030, 0.172), RIM),
    "far_right": ((0.097 + LINING, 0.1345), (-0.150 - LINING, -0.030), RIM),
    "near": ((-0.1345, 0.1345), (0.172, 0.1965), RIM),
    "far": ((-0.1345, 0.1345), (-0.1965, -0.150 - LINING), RIM),
    "middle": ((-0.060 - LINING, 0.097 + LINING), (-0.050 + LINING, -0.030), RIM),
}


class BridgeScene:
    """One of the tasks: its things and their 24 starts. `furnish` adds what never moves."""

    VARIANTS = ("",)

    def __init__(
        self,
        id: str,
        things: Mapping[str, Thing],
        starts: list[tuple[Place, ...]],
        *,
        camera: tuple[tuple[float, ...], tuple[float, ...]] = TABLE_CAMERA,
        furnish: Callable[[mujoco.MjSpec], None] | None = None,
        arm: Floats | None = None,
        on: float = 0.0,
        targets: tuple[str, ...] = (),
    ) -> None:
        self.id = id
        self.things = things
        self.starts = starts
        self.TARGETS = targets
        self.LOOK = Look()
        self.STARTS: Mapping[str, Floats] = {} if arm is None else {"widowx": arm}
        self._camera = camera
        self._furnish = furnish
        self._on = on

    def objects(self, variant: str) -> tuple[str, ...]:
        return tuple(self.things)

    def build(self, variant: str) -> mujoco.MjSpec:
        spec = bench()
        spec.modelname = self.id
        at, quaternion = self._camera[0], as_seen(self._camera[1])
        camera = spec.camera("workspace")
        camera.pos, camera.quat, camera.fovy = at, quaternion, WIDE
        spec.worldbody.add_camera(name="published", pos=at, quat=quaternion, fovy=FOVY)
        if self._furnish:
            self._furnish(spec)
        for name, thing in self.things.items():
            thing.add_to(spec, name)
        return spec

    def sample(self, rng: np.random.Generator, variant: str) -> Mapping[str, Floats]:
        places = self.starts[start_of(rng)]
        return {
            name: standing(thing, *place, on=self._on)
            for (name, thing), place in zip(self.things.items(), places, strict=True)
        }


def start_of(rng: np.random.Generator) -> int:
    """Which start a generator stands for: its seed modulo 24, so that 24 seeds in a row are all of them."""
    seed = getattr(rng.bit_generator.seed_seq, "entropy", None)
    return seed % STARTS if isinstance(seed, int) else int(rng.integers(STARTS))


def as_seen(quaternion: tuple[float, ...]) -> Floats:
    """Quaternion wxyz of MuJoCo's camera, which looks along -z with y up, for one that looks along x with z up."""
    seen = np.empty(4)
    mujoco.mju_mulQuat(seen, np.array(quaternion), np.array([0.5, 0.5, -0.5, -0.5]))
    mujoco.mju_normalize4(seen)
    return seen


def from_world(place: tuple[float, float], yaw: float = 0.0, robot: tuple[float, float] = ROBOT_AT) -> Place:
    """A place of SimplerEnv's world in the base frame of the robot, which is turned by half a turn."""
    return robot[0] - place[0], robot[1] - place[1], (yaw + 2 * pi) % (2 * pi) - pi


def on_grid(halves: tuple[float, ...], yaws: tuple[float, ...]) -> list[tuple[Place, ...]]:
    """Two things on different corners of each square around the centre; `yaws` [rad] are those of the first one."""
    found: list[tuple[Place, ...]] = []
    for half in halves:
        corners = [(CENTRE[0] + half * x, CENTRE[1] + half * y) for x, y in GRID]
        for one, source in enumerate(corners):
            for other, target in enumerate(corners):
                if one != other:
                    found += [(from_world(source, yaw), from_world(target)) for yaw in yaws]
    return found


def _add_sink(spec: mujoco.MjSpec) -> None:
    """A steel block with a basin, in which the eggplant lies, and a yellow basket."""
    for name, colour, shine in (("sink", (0.70, 0.72, 0.74), 0.6), ("basket", (0.93, 0.78, 0.12), 0.2)):
        spec.add_material(name=name, rgba=[*colour, 1.0], specular=shine, shininess=shine)
    sink = spec.worldbody.add_body(name="sink")
    for name, (xs, ys, top) in BLOCKS.items():
        _add_block(spec, sink, f"sink_{name}", xs, ys, (-SINK_FOOT if name == "floor" else BASIN_FLOOR, top), "sink")
    spec.add_material(name="drain", rgba=[0.25, 0.26, 0.27, 1.0])
    drain, _ = _box((-0.01, 0.01), (0.06, 0.08), (BASIN_FLOOR, BASIN_FLOOR))
    cylinder = mujoco.mjtGeom.mjGEOM_CYLINDER
    sink.add_geom(
        name="sink_drain",
        type=cylinder,
        size=[0.018, 0.0005, 0.0],
        pos=drain,
        material="drain",
        contype=0,
        conaffinity=0,
    )
    basket = spec.worldbody.add_body(name="basket")
    (left, right), (far, near) = BASKET
    walls = {
        "floor": (BASKET[0], BASKET[1], (BASIN_FLOOR, BASKET_FLOOR)),
        "left": ((left - LINING, left), (far - LINING, near + LINING), (BASIN_FLOOR, RIM + 0.002)),
        "right": ((right, right + LINING), (far - LINING, near + LINING), (BASIN_FLOOR, RIM + 0.002)),
        "far": ((left, right), (far - LINING, far), (BASIN_FLOOR, RIM + 0.002)),
        "near": ((left, right), (near, near + LINING), (BASIN_FLOOR, RIM + 0.002)),
    }
    for name, (xs, ys, zs) in walls.items():
        _add_block(spec, basket, f"basket_{name}", xs, ys, zs, "basket")
    middle, half = _box(*BASKET, (BASKET_FLOOR, BASKET_FLOOR + BASKET_SPACE))
    box = mujoco.mjtGeom.mjGEOM_BOX
    basket.add_site(name="basket_inside", type=box, size=half, pos=middle, group=5, rgba=[0.5, 0.5, 0.5, 0])


def _add_block(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    name: str,
    xs: tuple[float, float],
    ys: tuple[float, float],
    zs: tuple[float, float],
    material: str,
) -> None:
    middle, half = _box(xs, ys, zs)
    box = mujoco.mjtGeom.mjGEOM_BOX
    body.add_geom(spec.find_default("object"), name=name, type=box, size=half, pos=middle, material=material)


def _box(xs: tuple[float, float], ys: tuple[float, float], zs: tuple[float, float]) -> tuple[Floats, Floats]:
    """Middle [m, base frame] and half lengths of a box in the sink's frame."""
    low, high = np.array([xs[0], ys[0], zs[0]]), np.array([xs[1], ys[1], zs[1]])
    x, y, z = (low + high) / 2
    at = from_world(SINK_AT, robot=ROBOT_AT_SINK)
    return np.array([at[0] - x, at[1] - y, z + SINK_FOOT]), (high - low) / 2


SPOON = BridgeScene("bridge_spoon", {"spoon": spoon(), "towel": towel()}, on_grid((0.075,), (0.0, pi / 2)))
CARROT = BridgeScene("bridge_carrot", {"carrot": carrot(), "plate": plate()}, on_grid((0.075,), (pi, -pi / 2)))
CUBES = BridgeScene(
    "bridge_cubes",
    {"green_cube": cube(GREEN, 0.015), "yellow_cube": cube(YELLOW, 0.015)},
    on_grid((0.05, 0.10), (0.0,)),
)
EGGPLANT = BridgeScene(
    "bridge_eggplant",
    {"eggplant": eggplant()},
    [(from_world(place, yaw, ROBOT_AT_SINK),) for place in EGGPLANTS for yaw in (0.0, pi / 4, -pi / 4)],
    camera=SINK_CAMERA,
    furnish=_add_sink,
    arm=SINK_ARM,
    on=SINK_FOOT + BASIN_FLOOR,
    targets=("basket",),
)
SCENES = {scene.id: scene for scene in (SPOON, CARROT, CUBES, EGGPLANT)}
