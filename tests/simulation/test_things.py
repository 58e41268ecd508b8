"""The library of things: they stand as computed, fingers lift them, and hollow ones are hollow."""

import mujoco
import numpy as np
import pytest

from simulation.worlds import workbench
from simulation.worlds.layout import FINGERS, add_thing, bench, discs_of, is_waiting, standing, waiting
from simulation.worlds.parts import Part, Thing
from simulation.worlds.revolved import lying, turned
from simulation.worlds.things import THINGS
from tests.simulation.staging import TRAVEL, Stage

names = pytest.mark.parametrize("name", THINGS)


def alone(name: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """One thing on the table, where the library says that it stands."""
    spec = bench()
    add_thing(spec, name, THINGS[name])
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = standing(THINGS[name], 0.3, 0.0, 0.4)
    return model, data


@names
def test_a_thing_stands_as_high_as_was_computed(name: str) -> None:
    model, data = alone(name)
    mujoco.mj_step(model, data, 500)
    assert data.qpos[:3] == pytest.approx([0.3, 0.0, THINGS[name].rest_height], abs=5e-4)
    assert data.qpos[3:] == pytest.approx(standing(THINGS[name], 0.3, 0.0, 0.4)[3:], abs=0.01)


@names
def test_a_thing_weighs_as_much_as_its_parts_without_what_overlaps(name: str) -> None:
    model, _ = alone(name)
    thing = THINGS[name]
    volume = sum(part.volume for part in thing.parts)
    assert model.body(name).mass[0] == pytest.approx(thing.mass or thing.density * volume, rel=1e-3)
    assert model.body(name).ipos == pytest.approx(thing.centre_of_mass, abs=1e-4)
    assert 0.01 < model.body(name).mass[0] < 0.15


@names
def test_a_thing_covers_what_its_footprint_says(name: str) -> None:
    thing = THINGS[name]
    discs = discs_of(thing, 0.0, 0.0, 0.0)
    for part in thing.parts:
        if part.role != "seen":
            points, radius = part.outline()
            for x, y, _ in points:
                assert min(np.hypot(x - at_x, y - at_y) + radius - disc for at_x, at_y, disc in discs) < 1e-6


@names
def test_a_thing_that_is_left_out_waits_on_one_contact(name: str) -> None:
    model, data = alone(name)
    data.qpos[:] = waiting(THINGS[name], 3)
    assert is_waiting(data.qpos)
    assert not is_waiting(standing(THINGS[name], 0.3, 0.0, 0.0))
    mujoco.mj_step(model, data, 500)
    assert data.ncon == 1
    assert data.nefc == 1
    assert np.abs(data.qpos - waiting(THINGS[name], 3)).max() < 1e-3


def test_every_thing_of_the_workbench_can_be_lifted() -> None:
    """Each in the first three starts that have it. The bowl is held by its lip."""
    stage = Stage("workbench")
    tried = dict.fromkeys(workbench.OBJECTS, 0)
    for seed in range(40):
        stage.reset(seed)
        for name in [name for name in workbench.OBJECTS if not is_waiting(stage.joint(name)) and tried[name] < 3]:
            stage.reset(seed)
            before = stage.place(name)
            if name == "bowl":
                stage.grasp(before + np.array([0.0, 0.049, 0.008]))
                stage.rise(0.0, TRAVEL)
            else:
                stage.pick(name)
            tried[name] += 1
            assert stage.place(name)[2] > before[2] + 0.08, (seed, name)
    assert min(tried.values()) == 3


@pytest.mark.parametrize("container", workbench.CONTAINERS)
def test_a_small_cube_falls_into_a_hollow_thing_and_stays(container: str) -> None:
    stage = Stage("workbench").reset(0)
    stage.joint(container)[:] = standing(THINGS[container], 0.3, 0.0, 0.0)
    for name in set(workbench.OBJECTS) - {container}:
        stage.joint(name)[:] = waiting(THINGS[name], workbench.OBJECTS.index(name))
    stage.joint("white_cube")[:3] = [0.3, 0.0, 0.1]
    stage.data.qvel[:] = 0.0
    stage.wait(500)
    assert stage.inside("white_cube", f"{container}_inside")
    assert stage.place("white_cube")[2] < 0.03


def test_starts_of_the_workbench_differ_in_what_there_is() -> None:
    drawn = [frozenset(workbench.draw(np.random.default_rng(seed))) for seed in range(300)]
    assert len(set(drawn)) > 100
    assert {len(names) for names in drawn} == {5, 6}
    for name in workbench.OBJECTS:
        assert 30 < sum(name in names for names in drawn) < 270, name
    assert all(len(names & {*workbench.BASIC}) >= 2 for names in drawn)
    assert not any({"bowl", "cup"} <= names for names in drawn)


def test_there_are_places_for_every_seed() -> None:
    for seed in range(500):
        poses = workbench.sample(np.random.default_rng(seed), "")
        there = {name: poses[name] for name in workbench.OBJECTS if not is_waiting(poses[name])}
        discs = {name: placed(THINGS[name], pose) for name, pose in there.items()}
        discs |= {name: [(poses[f"{name}_x"][0], poses[f"{name}_y"][0], 0.05)] for name in workbench.TARGETS}
        for one in discs:
            for other in set(discs) - {one}:
                gaps = [np.hypot(a - c, b - d) - r - s for a, b, r in discs[one] for c, d, s in discs[other]]
                assert min(gaps) > FINGERS or {one, other} == {*workbench.TARGETS}, (seed, one, other)


def placed(thing: Thing, pose: np.ndarray) -> list[tuple[float, float, float]]:
    return discs_of(thing, pose[0], pose[1], 2 * np.arctan2(pose[6], pose[3]))


def test_a_revolved_mesh_is_closed_and_faces_outwards() -> None:
    for mesh in (
        turned([(0, 0), (0.02, 0), (0.02, 0.05), (0.015, 0.05), (0.015, 0.01), (0, 0.01)]),
        lying([(0, 0), (0.01, 0.01), (0, 0.05)]),
    ):
        edges = [(face[at], face[(at + 1) % 3]) for face in mesh.faces.tolist() for at in range(3)]
        assert len(edges) == len(set(edges))
        assert {(b, a) for a, b in edges} == set(edges)
        corners = mesh.vertices[mesh.faces]
        assert np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) > 0


def test_what_lies_has_its_underside_on_one_line() -> None:
    mesh = lying([(0, 0), (0.004, 0.0), (0.012, 0.05), (0.010, 0.06), (0, 0.06)])
    for x in (0.0, 0.05, 0.06):
        ring = mesh.vertices[np.isclose(mesh.vertices[:, 0], x)]
        assert ring[:, 2].min() == pytest.approx(-0.012)


def test_a_hidden_part_is_felt_and_a_seen_one_is_not() -> None:
    thing = Thing((1.0, 0.0, 0.0), (Part("box", (0.02, 0.02, 0.02), role="felt"), Part("sphere", (0.03,), role="seen")))
    spec = bench()
    add_thing(spec, "thing", thing)
    model = spec.compile()
    felt, seen = model.geom("thing"), model.geom("thing_1")
    assert (felt.group[0], felt.contype[0]) == (3, 2)
    assert (seen.group[0], seen.contype[0], seen.conaffinity[0]) == (0, 0, 0)
