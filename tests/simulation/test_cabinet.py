"""The cabinet: drawers that an arm opens, fills and closes, and that stay where they are left."""

from itertools import product

import numpy as np
import pytest

from simulation.worlds import cabinet
from tests.simulation.staging import TRAVEL, Stage

drawers = pytest.mark.parametrize("drawer", cabinet.DRAWERS)
SEEDS = range(4)


def opening(stage: Stage, drawer: str) -> float:
    """[m]"""
    return float(stage.joint(drawer)[0])


def slide(stage: Stage, drawer: str, by: float) -> None:
    """Take the drawer's knob and lead it along x [m]."""
    stage.grasp(stage.site(f"{drawer}_handle"))
    x, y, z = stage.controller.memory[7:10]
    stage.go([x + by, y, z], 0.0, longest=0.03)
    stage.grip(1.0)
    stage.rise(1.0, TRAVEL)


def put_in(stage: Stage, name: str, drawer: str) -> None:
    stage.pick(name)
    front, back = stage.place(drawer)[0], stage.place("cabinet")[0]
    _, y, z = stage.site(f"{drawer}_inside")
    stage.set_down((front + back) / 2 - 0.006, y, z + 0.015)


@drawers
def test_an_arm_opens_and_closes_each_drawer(drawer: str) -> None:
    stage = Stage("cabinet")
    for seed in SEEDS:
        stage.reset(seed)
        slide(stage, drawer, -0.105)
        assert opening(stage, drawer) > cabinet.OPEN_AT, seed
        slide(stage, drawer, 0.115)
        assert opening(stage, drawer) < cabinet.CLOSED_AT, seed


@drawers
def test_an_arm_puts_a_cube_into_an_open_drawer_and_closes_it(drawer: str) -> None:
    for seed in SEEDS:
        stage = Stage("cabinet", drawer.replace("drawer", "open")).reset(seed)
        put_in(stage, "red_cube", drawer)
        assert stage.inside("red_cube", f"{drawer}_inside"), seed
        slide(stage, drawer, 0.115)
        assert opening(stage, drawer) < cabinet.CLOSED_AT, seed
        assert stage.inside("red_cube", f"{drawer}_inside"), seed


@drawers
def test_opening_one_drawer_leaves_the_other_and_the_cabinet_alone(drawer: str) -> None:
    stage = Stage("cabinet").reset(1)
    other = next(name for name in cabinet.DRAWERS if name != drawer)
    before = stage.place("cabinet")
    slide(stage, drawer, -0.105)
    assert opening(stage, other) < 0.002
    assert stage.place("cabinet") == pytest.approx(before, abs=0.002)


@pytest.mark.parametrize(("drawer", "start"), list(product(cabinet.DRAWERS, (0.0, 0.03, 0.06, 0.1))))
def test_a_drawer_stays_where_it_is_left(drawer: str, start: float) -> None:
    stage = Stage("cabinet").reset(0)
    stage.joint(drawer)[0] = start
    stage.wait(500)
    assert opening(stage, drawer) == pytest.approx(start, abs=0.001)


def test_a_variant_starts_with_the_drawer_open_that_it_names() -> None:
    for seed in range(20):
        for variant, opened in (("", set()), ("top_open", {"top_drawer"}), ("bottom_open", {"bottom_drawer"})):
            sampled = cabinet.sample(np.random.default_rng(seed), variant)
            assert {name for name in cabinet.DRAWERS if sampled[name][0] > cabinet.OPEN_AT} == opened
            assert all(sampled[name][0] == 0.0 for name in {*cabinet.DRAWERS} - opened)


def test_the_cabinet_stands_elsewhere_for_another_seed() -> None:
    places = [cabinet.sample(np.random.default_rng(seed), "")["cabinet_x"][0] for seed in range(30)]
    assert max(places) - min(places) > 0.02


def test_a_cube_does_not_leave_a_drawer_that_is_pulled_open() -> None:
    stage = Stage("cabinet", "top_open").reset(2)
    put_in(stage, "red_cube", "top_drawer")
    slide(stage, "top_drawer", 0.115)
    slide(stage, "top_drawer", -0.105)
    assert opening(stage, "top_drawer") > cabinet.OPEN_AT
    assert stage.inside("red_cube", "top_drawer_inside")
