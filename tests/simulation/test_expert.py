import numpy as np
import pytest

from simulation import catalogue
from simulation.contracts import StartState
from simulation.environment import Environment
from simulation.expert import HoldStill, ScriptedExpert, grasp_yaw_error
from simulation.runner import run_episode

PER_FAMILY = 18


@pytest.mark.parametrize("family", ["pick", "place", "stack"])
def test_the_expert_reaches_every_goal_of_a_family(environment: Environment, family: str) -> None:
    slots = catalogue.task(family).slots
    steps = []
    for seed in range(PER_FAMILY):
        environment.reset(seed)
        text = catalogue.phrasings(family, slots[seed % len(slots)])[0].text
        result = run_episode(environment, ScriptedExpert(environment), text, seed, cameras=())
        assert result.success, (seed, text, result)
        assert result.progress == 1.0
        steps.append(result.steps)
    assert np.mean(steps) <= 30


@pytest.mark.parametrize("text", ["pick up the red cube", "put the red cube on the left plate"])
def test_holding_still_reaches_nothing(environment: Environment, text: str) -> None:
    for seed in range(3):
        environment.reset(seed)
        result = run_episode(environment, HoldStill(environment), text, seed, cameras=())
        assert not result.success
        assert result.termination_reason == "step_limit"
        assert result.steps == 50


def test_the_expert_goes_on_from_where_a_turn_ended(environment: Environment) -> None:
    environment.reset(4)
    for text in (
        "put the red cube on the left plate",
        "stack the yellow cube on the red cube",
        "pick up the green sphere",
        "put the green sphere on the right plate",
    ):
        result = run_episode(environment, ScriptedExpert(environment), text, 0, cameras=())
        assert result.success, text


def test_the_expert_takes_a_cube_lying_at_any_yaw_squarely(environment: Environment) -> None:
    for degrees in range(-45, 46, 15):
        state = turned(environment.reset(2), environment, np.deg2rad(degrees))
        environment.restore(state)
        result = run_episode(environment, ScriptedExpert(environment), "pick up the red cube", 0, cameras=())
        assert result.success, degrees
        assert abs(grasp_yaw_error(environment, "red_cube")) < 0.15, degrees


def turned(state: StartState, environment: Environment, yaw: float) -> StartState:
    """The state with the red cube turned to `yaw` [rad]."""
    first = int(environment.model.joint("red_cube").qposadr[0]) + 3
    qpos = state.qpos.copy()
    qpos[first : first + 4] = [np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)]
    return StartState(state.time, qpos, state.qvel, state.qacc_warmstart, state.control)


def test_free_text_is_played_to_the_limit_and_never_judged(environment: Environment) -> None:
    result = run_episode(environment, ScriptedExpert(environment), "dance for me", 0, cameras=())
    assert (result.success, result.progress, result.termination_reason) == (None, None, "step_limit")
