"""The warehouse of the UR5e."""

import numpy as np
import pytest

from simulation.environment import Environment
from simulation.expert import scripted_expert
from simulation.goals import goal_for
from simulation.worlds import load_world, warehouse


@pytest.mark.parametrize(
    ("instruction", "steps"),
    [
        ("pick up the green carton", 40),
        ("put the red carton in the blue bin", 60),
        ("move the white carton to the right shelf", 60),
        ("put the red carton in the red bin and the blue carton in the blue bin", 120),
    ],
)
def test_the_expert_reaches_one_goal_of_each_family(instruction: str, steps: int) -> None:
    environment = Environment("ur5e", "warehouse")
    environment.reset(5)
    expert = scripted_expert(environment)
    expert.reset(instruction, 5)
    goal = goal_for(instruction, "warehouse")
    assert goal is not None
    goal.begin(environment.view)
    assert not goal.judge(environment.view).success
    for _ in range(steps):
        environment.step(expert.infer(environment.observe(instruction, cameras=()))[0])
    assert goal.judge(environment.view).success


def test_a_seed_moves_the_bins_and_the_cartons_and_starts_one_on_the_left_shelf() -> None:
    one, other = (warehouse.sample(np.random.default_rng(seed), "") for seed in (1, 2))
    assert all((one[name] != other[name]).any() for name in one)
    assert {"red_bin_x", "blue_bin_y", *warehouse.CARTONS} <= set(one)
    assert one["white_carton"][2] == pytest.approx(warehouse.SHELF_TOP + warehouse.CARTON_HALF[2])


def test_the_tool_points_down_at_every_start() -> None:
    environment = Environment("ur5e", "warehouse")
    for seed in range(10):
        environment.reset(seed)
        assert environment.view.tool_rotation()[2, 0] < -0.999
        assert environment.proprioception()[7] == pytest.approx(1.0, abs=0.02)


def test_the_files_that_a_browser_loads_are_small() -> None:
    world = load_world("ur5e", "warehouse")
    assert sum(map(len, world.meshes.values())) < 1_400_000
