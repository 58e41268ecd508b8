import itertools
import subprocess
import sys

import numpy as np
import pytest

from simulation.contracts import StartState
from simulation.environment import Environment, StateMismatch
from simulation.expert import ScriptedExpert
from simulation.variation import Variation
from simulation.verification import first_difference
from simulation.worlds.table import OBJECTS, TARGETS

HASH_IN_ANOTHER_PROCESS = """
from simulation.environment import Environment
environment = Environment()
environment.reset(99)
for seed in (0, 7, 123456):
    print(environment.reset(seed).hash(environment.engine_version, environment.scene_hash))
"""


def test_a_seed_gives_the_same_start_in_any_process(environment: Environment) -> None:
    here = [environment.reset(seed).hash(environment.engine_version, environment.scene_hash) for seed in (0, 7, 123456)]
    run = subprocess.run([sys.executable, "-c", HASH_IN_ANOTHER_PROCESS], capture_output=True, text=True, check=True)
    assert run.stdout.split() == here
    assert len(set(here)) == 3


def test_what_happened_before_a_reset_leaves_no_trace(environment: Environment) -> None:
    fresh = environment.reset(5)
    environment.set_instruction("pick up the red cube")
    expert = ScriptedExpert(environment)
    expert.reset("pick up the red cube", 0)
    for _ in range(12):
        environment.step(expert.infer(environment.observe("pick up the red cube"))[0])
    assert first_difference(fresh, environment.reset(5)) is None


def test_things_start_apart_and_within_reach_for_many_seeds(environment: Environment) -> None:
    for seed in range(300):
        environment.reset(seed)
        places = {name: environment.view.position(name).copy() for name in (*OBJECTS, *TARGETS)}
        for one, other in itertools.combinations(places, 2):
            assert np.hypot(*(places[one][:2] - places[other][:2])) > 0.064, (seed, one, other)
        for name in OBJECTS:
            x, y, z = places[name]
            assert 0.2 < x < 0.39, (seed, name)
            assert abs(y) < 0.135, (seed, name)
            assert 0.015 < z < 0.021, (seed, name)
        assert environment.view.position("left_plate")[1] > 0 > environment.view.position("right_plate")[1]
        assert not any(environment.view.pads_touching(name) for name in OBJECTS)


def test_cubes_start_at_any_yaw(environment: Environment) -> None:
    yaws = []
    for seed in range(200):
        environment.reset(seed)
        rotation = environment.view.rotation("red_cube")
        yaws.append(np.degrees(np.arctan2(rotation[1, 0], rotation[0, 0])))
    assert min(yaws) < -40
    assert max(yaws) > 40


def test_going_on_from_a_state_is_the_same_bit_for_bit(environment: Environment) -> None:
    text = "stack the red cube on the yellow cube"
    environment.reset(11)
    expert = ScriptedExpert(environment)
    expert.reset(text, 0)
    states, actions = [environment.state()], []
    for _ in range(14):
        actions.append(expert.infer(environment.observe(text))[0])
        environment.step(actions[-1])
        states.append(environment.state())
    for begin in (0, 3, 9):
        environment.reset(99)
        environment.restore(states[begin])
        for step in range(begin, 14):
            environment.step(actions[step])
            assert first_difference(states[step + 1], environment.state()) is None, (begin, step)


def test_a_state_of_another_scene_is_refused(environment: Environment) -> None:
    state = environment.reset(0)
    foreign = StartState(0.0, np.zeros(47), state.qvel, state.qacc_warmstart, state.control)
    with pytest.raises(StateMismatch, match="qpos: expected 40 numbers"):
        environment.restore(foreign)


def test_another_variant_needs_another_environment(environment: Environment) -> None:
    with pytest.raises(StateMismatch, match="another Environment"):
        environment.reset(0, Variation(variant="fifth_object"))
    with_five = Environment(variation=Variation(variant="fifth_object"))
    with_five.reset(0)
    assert with_five.view.position("purple_cube")[2] == pytest.approx(0.0165, abs=1e-3)
    assert with_five.scene_hash != environment.scene_hash
