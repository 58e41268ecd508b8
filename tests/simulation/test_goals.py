import numpy as np
import pytest

from simulation.environment import Environment
from simulation.expert import ScriptedExpert
from simulation.goals import Lifted, Placed, Stacked, goal_for
from tests.simulation.fakes import still


def put(environment: Environment, name: str, x: float, y: float, z: float) -> None:
    """Set an object down somewhere and let it come to rest, the arm holding still."""
    first = int(environment.model.joint(name).qposadr[0])
    environment.data.qpos[first : first + 7] = [x, y, z, 1.0, 0.0, 0.0, 0.0]
    environment.step(still()[0])
    environment.step(still()[0])


def test_wordings_become_goals() -> None:
    assert goal_for("pick up the red cube") == Lifted("red_cube", 0.05)
    assert goal_for("put the green ball on the right plate") == Placed("green_sphere", "right_plate", 0.05)
    assert goal_for("stack the yellow block on the blue can") == Stacked("yellow_cube", "blue_cylinder", 0.02)
    assert goal_for("sing") is None


@pytest.mark.parametrize(("off", "success"), [(0.0, True), (0.04, True), (0.06, False)])
def test_on_a_plate_means_within_five_centimetres_of_its_middle(
    environment: Environment, off: float, success: bool
) -> None:
    x, y, _ = environment.view.position("left_plate")
    put(environment, "red_cube", x + off * np.cos(1.0), y + off * np.sin(1.0), 0.0235)
    assert Placed("red_cube", "left_plate", 0.05).judge(environment.view).success is success
    assert not Placed("red_cube", "right_plate", 0.05).judge(environment.view).success


def test_a_stack_is_on_top_in_the_middle_and_let_go(environment: Environment) -> None:
    x, y, _ = environment.view.position("yellow_cube")
    goal = Stacked("red_cube", "yellow_cube", 0.02)
    put(environment, "red_cube", x, y, 0.0500)
    assert goal.judge(environment.view).success
    assert not Stacked("yellow_cube", "red_cube", 0.02).judge(environment.view).success
    put(environment, "red_cube", x + 0.04, y, 0.0166)
    assert not goal.judge(environment.view).success


def test_an_object_in_the_air_or_still_held_is_not_set_down(environment: Environment) -> None:
    text = "put the red cube on the left plate"
    environment.set_instruction(text)
    expert = ScriptedExpert(environment)
    expert.reset(text, 0)
    progress = []
    for _ in range(25):
        outcome = environment.step(expert.infer(environment.observe(text))[0])
        progress.append(outcome.judgement.progress)
        if environment.view.pads_touching("red_cube") == 2:
            assert not outcome.judgement.success
    assert progress[-1] == 1.0
    assert progress[0] < 0.2
    assert any(0.4 < value < 0.8 for value in progress)


def test_a_lift_counts_only_when_both_pads_hold_it_high_enough(environment: Environment) -> None:
    text = "pick up the blue cylinder"
    environment.set_instruction(text)
    expert = ScriptedExpert(environment)
    expert.reset(text, 0)
    for _ in range(12):
        outcome = environment.step(expert.infer(environment.observe(text))[0])
        height = environment.view.position("blue_cylinder")[2] - 0.02
        assert outcome.judgement.success == (height >= 0.05 and environment.view.pads_touching("blue_cylinder") == 2)
    assert outcome.judgement.success
