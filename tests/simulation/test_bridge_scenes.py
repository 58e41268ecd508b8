"""SimplerEnv's four Bridge tasks: its measures, its starts and its camera, and that the arm can do them."""

from math import radians

import mujoco
import numpy as np
import pytest

from simulation.contracts import Floats
from simulation.worlds import bridge
from simulation.worlds.parts import Thing
from tests.simulation.staging import Stage, flattened

ids = pytest.mark.parametrize("scene_id", bridge.SCENES)
PUBLISHED = {  # half lengths [m], density [kg/m3]
    ("bridge_spoon", "towel"): (0.05, 0.05, 0.005, 330),
    ("bridge_carrot", "carrot"): (0.0575, 0.016, 0.019, 700),
    ("bridge_carrot", "plate"): (0.055, 0.055, 0.003, 1000),
    ("bridge_cubes", "green_cube"): (0.015, 0.015, 0.015, 1000),
    ("bridge_cubes", "yellow_cube"): (0.015, 0.015, 0.015, 1000),
    ("bridge_eggplant", "eggplant"): (0.0392, 0.0187, 0.019, 400),
}


def poses(scene_id: str) -> list[Floats]:
    """(things, 7) of each start, in order."""
    scene = bridge.SCENES[scene_id]
    return [np.array(list(scene.sample(np.random.default_rng(seed), "").values())) for seed in range(24)]


@ids
def test_there_are_24_starts_and_a_seed_names_one_of_them(scene_id: str) -> None:
    found = poses(scene_id)
    assert len({pose.tobytes() for pose in found}) == 24
    again = bridge.SCENES[scene_id].sample(np.random.default_rng(24 * 7 + 5), "")
    assert np.array_equal(np.array(list(again.values())), found[5])


def test_a_generator_without_a_seed_still_draws_a_start() -> None:
    generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence([1, 2, 3])))
    assert 0 <= bridge.start_of(generator) < 24


@pytest.mark.parametrize(("scene_id", "name"), PUBLISHED)
def test_things_have_the_published_sizes_and_densities(scene_id: str, name: str) -> None:
    *half, density = PUBLISHED[scene_id, name]
    thing = bridge.SCENES[scene_id].things[name]
    assert thing.half_length == pytest.approx(half[0], abs=0.003)
    assert thing.half_width == pytest.approx(half[1], abs=0.002)
    assert thing.height == pytest.approx(2 * half[2], abs=0.007)
    assert thing.density == density


def test_the_spoon_is_as_long_and_wide_as_published() -> None:
    low, high = seen(bridge.SPOON.things["spoon"])
    assert high - low == pytest.approx([0.14, 0.0346, 0.02], abs=0.006)


def seen(thing: Thing) -> tuple[Floats, Floats]:
    """Lowest and highest corner of what is seen of a thing [m]."""
    points = [part.mesh.vertices for part in thing.parts if part.mesh]
    points += [
        outline + sign * radius
        for part in thing.parts
        if not part.mesh
        for outline, radius in [part.outline()]
        for sign in (-1, 1)
    ]
    return np.concatenate(points).min(0), np.concatenate(points).max(0)


def test_places_are_simplerenvs_as_the_robot_sees_them() -> None:
    spoon, towel = poses("bridge_spoon")[0]
    assert spoon[:2] == pytest.approx(
        [0.382, 0.103]
    )  # world (-0.235, -0.075) from a base at (0.147, 0.028), turned about
    assert towel[:2] == pytest.approx([0.382, -0.047])
    assert yaws("bridge_spoon") == {-180, -90}
    assert yaws("bridge_carrot") == {0, 90}
    assert yaws("bridge_eggplant") == {-180, -135, 135}
    cubes = np.array(poses("bridge_cubes"))[:, 0, :2]
    assert np.unique(np.round(np.abs(cubes - [0.307, 0.028]), 4)).tolist() == [0.05, 0.1]
    eggplants = np.array(poses("bridge_eggplant"))[:, 0]
    assert eggplants[:, :2].mean(0) == pytest.approx([0.232, -0.146])
    assert np.ptp(eggplants[:, :2], axis=0) == pytest.approx([0.02, 0.03])


def yaws(scene_id: str) -> set[float]:
    found = {round(float(np.degrees(2 * np.arctan2(pose[0][6], pose[0][3])))) for pose in poses(scene_id)}
    return {(yaw + 180) % 360 - 180 for yaw in found}


@ids
def test_the_camera_is_simplerenvs(scene_id: str) -> None:
    model = flattened(scene_id, "")[1]
    camera = model.camera("published")
    assert 240 / np.tan(radians(float(camera.fovy[0])) / 2) == pytest.approx(623.588)
    assert np.array_equal(camera.pos, model.camera("workspace").pos)
    forwards = np.empty(3)
    mujoco.mju_rotVecQuat(forwards, np.array([0.0, 0.0, -1.0]), camera.quat)
    if scene_id == "bridge_eggplant":
        assert camera.pos == pytest.approx([-0.003, -0.21, 0.39])
        assert forwards[2] < -0.5
    else:
        assert camera.pos == pytest.approx([0.0, -0.16, 0.36])
        assert forwards / forwards[0] == pytest.approx([1.0, 0.553, -1.085], abs=0.02)


def test_the_arm_puts_the_carrot_on_the_plate() -> None:
    for seed in (1, 10, 18):
        stage = Stage("bridge_carrot").reset(seed)
        stage.pick("carrot")
        x, y, _ = stage.place("plate")
        stage.set_down(x, y, 0.024)
        assert on_top(stage, "carrot", "plate"), seed


def test_the_arm_puts_the_spoon_on_the_towel() -> None:
    for seed in (1, 10, 18):
        stage = Stage("bridge_spoon").reset(seed)
        stage.pick("spoon")
        x, y, _ = stage.place("towel")
        stage.set_down(x, y, 0.03)
        assert on_top(stage, "spoon", "towel"), seed


def test_the_arm_stacks_the_cubes() -> None:
    for seed in (1, 10, 18):
        stage = Stage("bridge_cubes").reset(seed)
        stage.pick("green_cube")
        x, y, z = stage.place("yellow_cube")
        stage.set_down(x, y, z + 0.034)
        assert stage.place("green_cube") == pytest.approx([x, y, z + 0.03], abs=0.008), seed


def test_the_arm_puts_the_eggplant_into_the_basket() -> None:
    for seed in (0, 1, 2, 23):
        stage = Stage("bridge_eggplant").reset(seed)
        stage.pick("eggplant")
        x, y, z = stage.site("basket_inside")
        stage.set_down(x, y, z + 0.02)
        assert stage.inside("eggplant", "basket_inside"), seed


def on_top(stage: Stage, name: str, below: str) -> bool:
    apart = np.linalg.norm(stage.place(name)[:2] - stage.place(below)[:2])
    return bool(apart < 0.05) and stage.place(name)[2] > stage.place(below)[2] + 0.005
