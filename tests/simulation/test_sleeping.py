"""Things that rest sleep, and nobody can tell: not who goes on from a record, not who judges, not who moves them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulation import catalogue
from simulation.contracts import AWAKE, SimulationError
from simulation.environment import Environment, StateMismatch
from simulation.episode_format import actions_of, state_at, to_float64
from simulation.expert import ScriptedExpert
from simulation.verification import ReplayDifference, first_difference, verify_document
from tests.simulation.conftest import Record, recorded

TEXT = "put the red cube on the left plate"
NEW = ("physics", "asleep", "format_version")
WORLDS = ("table", "workbench", "cabinet", "bridge_carrot")


@pytest.fixture(scope="module")
def awake() -> Environment:
    """In which nothing sleeps, as in every episode of the first format."""
    return Environment("widowx", "table", physics=AWAKE)


def first_format(awake: Environment, text: str = TEXT) -> dict[str, Any]:
    awake.reset(0)
    document = recorded(awake, text)
    return {name: value for name, value in document.items() if name not in NEW}


@pytest.mark.parametrize("scene", WORLDS)
def test_a_step_computes_the_robot_alone_while_all_things_rest(scene: str) -> None:
    environment = Environment("widowx", scene)
    state = environment.reset(0)
    environment.step(environment.controller.still())
    robot = np.flatnonzero(state.asleep < 0)
    assert len(robot) == 1
    assert environment.data.nv_awake == environment.model.tree_dofnum[robot[0]] == 8


@pytest.mark.parametrize("scene", WORLDS)
def test_from_any_record_another_environment_goes_on_bit_for_bit(scene: str) -> None:
    environment, other = Environment("widowx", scene), Environment("widowx", scene)
    environment.reset(3)
    text = next(text for text in catalogue.scene(scene).suggestions if environment.set_instruction(text))
    document = recorded(environment, text)
    asleep = np.array(document["asleep"]) >= 0
    assert (asleep[1:] != asleep[:-1]).any(), "something woke or fell asleep"
    actions = actions_of(document)
    for begin in range(0, len(actions), 4):
        other.reset(99)
        other.restore(state_at(document, begin))
        for step in range(begin, min(begin + 5, len(actions))):
            other.step(actions[step])
            assert first_difference(state_at(document, step + 1), other.state()) is None, (begin, step)


def test_the_judge_sees_what_sleeping_things_touch(environment: Environment, awake: Environment) -> None:
    for here in (environment, awake):
        here.reset(0)
        here.step(here.controller.still())
        assert here.view.supported("red_cube")
        assert not here.view.touching("red_cube", "yellow_cube")
    assert (environment.state().asleep >= 0).sum() == environment.model.ntree - 1


def test_a_thing_that_is_put_in_the_air_wakes_and_falls(environment: Environment) -> None:
    x, y, _ = environment.view.position("yellow_cube")
    environment.move("red_cube", x, y)
    first = int(environment.model.joint("red_cube").qposadr[0])
    environment.data.qpos[first + 2] = 0.12
    for _ in range(3):
        environment.step(environment.controller.still())
    assert environment.view.touching("red_cube", "yellow_cube")
    assert environment.view.position("red_cube")[2] < 0.06


def test_what_fell_asleep_together_wakes_together(record: Record, environment: Environment) -> None:
    assert record(TEXT)["success"]
    for _ in range(5):
        environment.step(environment.controller.still())
    model = environment.model
    cube, plate = (int(model.body_treeid[model.body(name).id]) for name in ("red_cube", "left_plate"))
    assert environment.state().asleep[cube] == plate
    environment.move("red_cube", 0.3, 0.0)
    assert environment.state().asleep[plate] < 0


def test_an_episode_of_the_first_format_is_identical_and_keeps_its_bytes(awake: Environment) -> None:
    document = first_format(awake)
    assert document["success"]
    assert verify_document(document) is None
    model = awake.model
    rows = np.frombuffer(to_float64(document), "<f8").reshape(-1, 1 + model.nq + 2 * model.nv + 14 + 7)
    assert rows[:, 0].tolist() == [state["time"] for state in document["states"]]


def test_an_old_record_goes_on_with_everything_awake(awake: Environment, environment: Environment) -> None:
    old = state_at(first_format(awake), 4)
    environment.restore(old)
    assert (environment.state().asleep < 0).all()
    assert environment.state().qpos.tobytes() == old.qpos.tobytes()
    document = recorded(environment, TEXT)
    assert document["success"]
    assert verify_document(document) is None
    assert (np.array(document["asleep"][1]) >= 0).any()


def test_a_changed_sleep_is_found_at_its_record(record: Record) -> None:
    document = record(TEXT)
    tree = int(np.flatnonzero(np.array(document["asleep"][3]) >= 0)[0])
    document["asleep"][3][tree] = -1
    assert verify_document(document) == ReplayDifference(3, "asleep differs")


def test_physics_of_the_future_is_said_plainly(record: Record) -> None:
    document = {**record(TEXT), "physics": 3}
    assert verify_document(document) == ReplayDifference(0, "recorded with physics 3, here it is 1 to 2")
    with pytest.raises(SimulationError, match="unknown physics 3; expected 1 or 2"):
        Environment(physics=3)


@pytest.mark.parametrize("spoil", ["a tree too few", "no circle", "a robot asleep", "out of range"])
def test_a_state_of_sleep_that_no_run_can_reach_is_refused(environment: Environment, spoil: str) -> None:
    state = environment.reset(0)
    asleep = state.asleep.copy()
    things = np.flatnonzero(asleep >= 0)
    if spoil == "no circle":
        asleep[things[0]] = things[1]
    elif spoil == "a robot asleep":
        robot = int(np.flatnonzero(asleep < 0)[0])
        asleep[robot] = robot
    elif spoil == "out of range":
        asleep[things[0]] = 99
    else:
        asleep = asleep[1:]
    with pytest.raises(StateMismatch, match="asleep: expected circles among 7 trees"):
        environment.restore(replace(state, asleep=asleep))

