"""The warehouse of the UR5e."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from simulation import catalogue
from simulation.contracts import SpecError
from simulation.environment import Environment, StateMismatch
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


@pytest.mark.parametrize("length", [0, 6, 8])
def test_an_action_of_another_length_is_refused_and_moves_nothing(length: int) -> None:
    environment = Environment("ur5e", "warehouse")
    before = environment.reset(1)
    with pytest.raises(SpecError, match=rf"expected float64\[7\], got float64\[{length}\]"):
        environment.step(np.zeros(length))
    assert environment.state().qpos.tolist() == before.qpos.tolist()


def test_an_action_that_is_no_number_is_refused() -> None:
    environment = Environment("ur5e", "warehouse")
    environment.reset(1)
    with pytest.raises(SpecError):
        environment.step(np.array([0.0, np.nan, 0.0, 0.0, 0.0, 0.0, 1.0]))


@pytest.mark.parametrize("name", ["qpos", "qvel", "qacc_warmstart", "control"])
def test_a_state_of_another_length_is_refused_with_the_expected_one(name: str) -> None:
    environment = Environment("ur5e", "warehouse")
    state = environment.reset(1)
    short = replace(state, **{name: getattr(state, name)[:-1]})
    with pytest.raises(StateMismatch, match=rf"{name}: expected {len(getattr(state, name))} numbers for ur5e in scene"):
        environment.restore(short)


def test_without_its_meshes_the_others_are_played_and_it_is_named(lose: Callable[[str], None]) -> None:
    lose("ur5e")
    assert "scripts/fetch_assets.py" in catalogue.lacking()["ur5e/warehouse"]
    assert {robot for robot, _ in catalogue.playable()} == {"widowx", "franka"}


@pytest.mark.parametrize(
    ("sentence", "task", "slots"),
    [
        ("Put the red box into the blue tote!", "warehouse_bin", ("red_carton", "blue_bin")),
        ("please throw the green carton in the red bin", "warehouse_bin", ("green_carton", "red_bin")),
        ("bring the white package over to the right shelf", "warehouse_shelf", ("white_carton", "right_shelf")),
        ("lift the blue carotn", "warehouse_pick", ("blue_carton",)),
        (
            "sort the blue box into the blue bin and the red box into the red bin",
            "warehouse_sort",
            ("blue_carton", "blue_bin", "red_carton", "red_bin"),
        ),
    ],
)
def test_a_sentence_means_what_a_visitor_means_by_it(sentence: str, task: str, slots: tuple[str, ...]) -> None:
    meant = catalogue.task_for(sentence, "warehouse")
    assert meant is not None
    assert (meant[0], tuple(meant[1].values())) == (task, slots)


@pytest.mark.parametrize(
    "sentence", ["put the red carton beside the blue bin", "don't lift the green carton", "sort the cartons", "wave"]
)
def test_what_no_goal_covers_is_free_text(sentence: str) -> None:
    assert catalogue.task_for(sentence, "warehouse") is None
