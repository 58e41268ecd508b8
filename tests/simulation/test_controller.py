import numpy as np
import pytest

from simulation.control.tool_pose import DeltaPose
from simulation.environment import Environment
from simulation.worlds import widowx
from simulation.worlds.widowx import JOINTS, PIECES, POSITION


@pytest.fixture
def controller() -> DeltaPose:
    made = widowx.controller()
    made.start_at(np.append(widowx.START_ARM, widowx.FINGER_OPEN))
    return made


def action(*position: float, gripper: float = 1.0) -> np.ndarray:
    return np.array([*position, 0.0, 0.0, 0.0, gripper])


def test_the_start_pose_is_the_published_one(controller: DeltaPose) -> None:
    position, _ = controller.arm.tool_pose(widowx.START_ARM)
    assert position == pytest.approx([0.292, -0.006, 0.135], abs=1e-3)


def test_targets_accumulate_and_the_joints_reach_them(controller: DeltaPose) -> None:
    begin = controller.memory[POSITION].copy()
    for _ in range(3):
        controller.command(action(0.01, 0.02, -0.01))
    assert controller.memory[POSITION] == pytest.approx(begin + np.array([0.03, 0.06, -0.03]), abs=1e-9)
    reached, _ = controller.arm.tool_pose(controller.memory[JOINTS])
    assert reached == pytest.approx(controller.memory[POSITION], abs=2e-4)


def test_the_ramp_walks_from_old_to_new_joints_in_equal_pieces(controller: DeltaPose) -> None:
    old = controller.memory[JOINTS].copy()
    ctrl = controller.command(action(0.03, 0.0, 0.0, gripper=0.0))
    assert ctrl.shape == (PIECES, 7)
    assert ctrl[-1, :6] == pytest.approx(controller.memory[JOINTS], abs=1e-12)
    assert np.diff(ctrl[:, :6], axis=0) == pytest.approx(np.tile((ctrl[-1, :6] - old) / PIECES, (9, 1)), abs=1e-12)
    assert (ctrl[:, 6] == widowx.FINGER_CLOSED).all()


def test_a_huge_move_is_shortened_and_kept_in_the_workspace(controller: DeltaPose) -> None:
    begin = controller.memory[POSITION].copy()
    controller.command(action(3.0, 0.0, 0.0))
    assert np.linalg.norm(controller.memory[POSITION] - begin) <= 0.0501
    for _ in range(30):
        controller.command(action(0.0, 0.0, -1.0))
    assert controller.memory[POSITION][2] >= widowx.WORKSPACE[0, 2] - 2e-4


def test_a_pose_out_of_reach_does_not_carry_the_command_away_from_the_arm(controller: DeltaPose) -> None:
    for _ in range(30):
        controller.command(np.array([0.05, 0.05, 0.05, 0.4, 0.4, 0.4, 1.0]))
    reached, _ = controller.arm.tool_pose(controller.memory[JOINTS])
    assert reached == pytest.approx(controller.memory[POSITION], abs=2e-4)


def test_the_arm_follows_within_a_centimetre(environment: Environment) -> None:
    errors = []
    for seed in range(5):
        environment.reset(seed)
        for step in range(10):
            environment.step(action(0.0, 0.03 if step % 4 < 2 else -0.03, -0.01))
            errors.append(np.linalg.norm(environment.view.tool() - environment.controller.memory[POSITION]))
    assert np.median(errors) < 0.006
    assert max(errors) < 0.012
