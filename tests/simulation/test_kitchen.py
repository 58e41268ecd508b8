"""The kitchen of the Franka Panda."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from simulation import assets, catalogue
from simulation.aims import aim_of, relative_yaw
from simulation.bundle import write_scene_bundle
from simulation.cameras import render_profile
from simulation.contracts import Limits, SpecError
from simulation.control.kinematics import Arm
from simulation.environment import Environment, StateMismatch
from simulation.episode_format import build_document, to_float64
from simulation.expert import scripted_expert
from simulation.franka_expert import act, due
from simulation.goals import goal_for
from simulation.goals.joints import Open, TurnedOn
from simulation.recorder import Recorder
from simulation.runner import run_episode
from simulation.verification import verify_document
from simulation.worlds import franka, kitchen, load_world

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def environment() -> Environment:
    return Environment("franka", "kitchen")


def steps_of(environment: Environment, instruction: str, seed: int) -> int:
    """How many control steps the expert takes until the goal is held."""
    environment.reset(seed)
    expert = scripted_expert(environment)
    expert.reset(instruction, seed)
    assert environment.set_instruction(instruction) is not None
    assert environment.meaning is not None
    held = 0
    for step in range(catalogue.task(environment.meaning[0]).max_steps):
        outcome = environment.step(expert.infer(environment.observe(instruction, cameras=()))[0])
        held = held + 1 if outcome.judgement.success else 0
        if held == environment.hold_steps:
            return step + 1
    raise AssertionError(f"{instruction!r} is not reached from seed {seed}")


@pytest.mark.parametrize(
    "instruction",
    [
        "open the microwave",
        "open the slide cabinet",
        "open the hinge cabinet",
        "turn on the light",
        "turn on the top right burner",
        "move the kettle to the back left burner",
        "open the slide cabinet and the hinge cabinet",
        "turn on the bottom left burner and the light",
    ],
)
def test_the_expert_reaches_each_goal(environment: Environment, instruction: str) -> None:
    for seed in (3, 4):
        steps_of(environment, instruction, seed)


@pytest.mark.parametrize(
    "last", ["turn on the light and open the slide cabinet", "turn on the bottom left burner and the light"]
)
def test_the_expert_does_four_things_within_the_arenas_forty_seconds(environment: Environment, last: str) -> None:
    assert steps_of(environment, f"open the microwave, move the kettle back, {last}", 2) <= 200


@pytest.mark.parametrize(
    ("instruction", "joint", "short", "enough"),
    [
        ("open the microwave", "microwave", -0.55, -0.70),
        ("open the slide cabinet", "slide_cabinet", 0.25, 0.35),
        ("open the hinge cabinet", "right_hinge_cabinet", 1.05, 1.30),
        ("turn on the light", "light_switch", -0.35, -0.60),
        ("turn on the bottom left burner", "bottom_left_knob", -0.60, -0.90),
    ],
)
def test_a_door_or_knob_has_to_go_as_far_as_in_franka_kitchen_or_farther(
    environment: Environment, instruction: str, joint: str, short: float, enough: float
) -> None:
    state = environment.reset(1)
    goal = goal_for(instruction, "kitchen")
    assert goal is not None
    for position, reached in ((0.0, False), (short, False), (enough, True)):
        qpos = state.qpos.copy()
        qpos[environment.model.joint(joint).qposadr[0]] = position
        environment.restore(replace(state, qpos=qpos))
        assert goal.judge(environment.view).success is reached, position


@pytest.mark.parametrize(
    ("instruction", "steps"),
    [
        ("open the microwave", 18),
        ("open the hinge cabinet", 25),
        ("turn on the bottom left burner", 7),
        ("open the slide cabinet", 15),
        ("move the kettle to the back left burner", 15),
    ],
)
def test_the_experts_action_is_told_by_the_state_alone(environment: Environment, instruction: str, steps: int) -> None:
    environment.reset(6)
    expert = scripted_expert(environment)
    expert.reset(instruction, 6)
    environment.set_instruction(instruction)
    for _ in range(steps):
        environment.step(expert.infer(environment.observe(instruction, cameras=()))[0])
    other = scripted_expert(environment)
    other.reset(instruction, 6)
    observation = environment.observe(instruction, cameras=())
    assert other.infer(observation).tolist() == expert.infer(observation).tolist()
    assert (goal := goal_for(instruction, "kitchen")) is not None
    assert due(environment, goal) is not None


@pytest.mark.parametrize("kicked", ["open the microwave", "move the kettle to the back left burner"])
def test_the_expert_takes_hold_again_of_what_slipped_out_of_its_hand(environment: Environment, kicked: str) -> None:
    environment.reset(2)
    expert = scripted_expert(environment)
    expert.reset(kicked, 2)
    environment.set_instruction(kicked)
    held = 0
    for step in range(90):
        action = expert.infer(environment.observe(kicked, cameras=()))[0]
        if 16 <= step < 19:
            action[6] = 1.0  # the hand opens half way
        held = held + 1 if environment.step(action).judgement.success else 0
        if held == environment.hold_steps:
            return
    raise AssertionError("it did not recover")


def test_the_expert_holds_still_for_a_door_that_it_has_no_way_to(environment: Environment) -> None:
    environment.reset(1)
    goal = Open("left_hinge_cabinet", closed="high")
    assert act(environment, goal).tolist() == environment.controller.still().tolist()
    assert due(environment, goal) is None


def test_a_knobs_demonstrations_tell_where_its_handle_is(environment: Environment) -> None:
    environment.reset(1)
    aim = aim_of(environment, TurnedOn("top_left_knob", off="high"))
    assert aim.place.tolist() == environment.data.site("top_left_knob_handle").xpos.tolist()
    assert relative_yaw(environment, aim) == (0.0, 0.0)


def test_a_burner_glows_when_its_knob_is_turned(environment: Environment) -> None:
    steps_of(environment, "turn on the top left burner", 1)
    risen = {name: environment.view.joint_position(name) for name in ("top_left_burner", "top_right_burner")}
    assert risen["top_left_burner"] < -0.003 < risen["top_right_burner"]


def test_a_kettle_that_is_still_held_is_not_on_its_burner(environment: Environment) -> None:
    steps_of(environment, "move the kettle to the top left burner", 0)
    goal = goal_for("move the kettle to the top left burner", "kitchen")
    assert goal is not None
    assert goal.judge(environment.view).success
    environment.move("kettle", 0.60, 0.22)
    assert not goal.judge(environment.view).success


def test_a_seed_moves_the_kettle_on_its_burner_and_the_hand() -> None:
    one, other = (kitchen.sample(np.random.default_rng(seed), "")["kettle"] for seed in (1, 2))
    assert (one[:2] != other[:2]).all()
    assert (np.abs(one[:2] - kitchen.KETTLE[:2]) <= kitchen.PLAY_M).all()


def test_the_hand_points_at_the_kitchen_at_every_start(environment: Environment) -> None:
    for seed in range(10):
        environment.reset(seed)
        felt = environment.proprioception()
        assert felt[3] > 0.9995, "as good as no turn"
        assert felt[7] == pytest.approx(1.0, abs=0.02)


def test_an_episode_is_verified_bit_for_bit(environment: Environment) -> None:
    assert verify_document(recorded(environment, "turn on the light")) is None


def test_a_browser_repeats_an_episode_with_a_carried_kettle(environment: Environment, tmp_path: Path) -> None:
    bundle, replay = tmp_path / "bundle", tmp_path / "replay.bin"
    write_scene_bundle("franka", "kitchen", bundle)
    replay.write_bytes(to_float64(recorded(environment, "move the kettle to the top left burner")))
    command = ["../scripts/with_node.sh", "node", "tools/check-episode.mjs", bundle, replay]
    done = subprocess.run(command, cwd=ROOT / "frontend", capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["verdict"] == "same", found
    assert found["grasp"]["object"] == "kettle"


def recorded(environment: Environment, instruction: str) -> dict[str, object]:
    """An episode of the expert."""
    recorder = Recorder()
    environment.reset(4)
    expert = scripted_expert(environment)
    limits = Limits(max_steps=environment.world.steps_in(60))
    run_episode(environment, expert, instruction, 4, [recorder], limits, cameras=())
    identity = {"_id": "ep", "robot_id": "franka", "scene_id": "kitchen", "instruction": instruction}
    return build_document(identity, recorder.recording, environment, render_profile())


def test_an_arm_with_a_rest_pose_stays_near_for_a_pose_out_of_reach() -> None:
    arm = franka.controller().arm
    place, quaternion = arm.tool_pose(franka.HOME)
    far = place + np.array([1.5, 0.0, 0.0])
    found, reached = arm.solve(franka.HOME, far, quaternion)
    assert not reached
    assert np.linalg.norm(arm.tool_pose(found)[0] - far) <= np.linalg.norm(place - far)


def test_an_arm_with_a_rest_pose_comes_back_to_it() -> None:
    model = franka.build(assets.robot_meshes(franka.MESHES)).compile()
    left = {}
    for rest in (None, franka.HOME):
        arm = Arm(model, franka.ARM_JOINTS, franka.TOOLS[0], rest)
        place, quaternion = arm.tool_pose(franka.HOME)
        joints = franka.HOME
        for share in np.sin(np.linspace(0, np.pi, 60)):
            joints, _ = arm.solve(joints, place + share * np.array([0.1, 0.35, 0.2]), quaternion)
        left[rest is not None] = float(np.abs(joints - franka.HOME).max())
    assert left[True] < 0.1
    assert left[True] <= left[False]


def test_the_files_that_a_browser_loads_are_small() -> None:
    assert sum(map(len, load_world("franka", "kitchen").meshes.values())) < 1_300_000


@pytest.mark.parametrize("length", [0, 6, 8])
def test_an_action_of_another_length_is_refused_and_moves_nothing(environment: Environment, length: int) -> None:
    before = environment.reset(1)
    with pytest.raises(SpecError, match=rf"expected float64\[7\], got float64\[{length}\]"):
        environment.step(np.zeros(length))
    assert environment.state().qpos.tolist() == before.qpos.tolist()


def test_a_state_of_another_length_is_refused_with_the_expected_one(environment: Environment) -> None:
    state = environment.reset(1)
    with pytest.raises(StateMismatch, match="qpos: expected 30 numbers for franka in scene kitchen"):
        environment.restore(replace(state, qpos=state.qpos[:-1]))


def test_without_its_files_the_others_are_played_and_it_is_named(lose: Callable[[str], None]) -> None:
    lose("kitchen")
    assert "scripts/fetch_assets.py" in catalogue.lacking()["franka/kitchen"]
    assert "franka" not in {robot for robot, _ in catalogue.playable()}


def test_nothing_but_the_kettle_and_the_robot_touches_at_the_start(environment: Environment) -> None:
    environment.reset(0)
    mujoco.mj_forward(environment.model, environment.data)
    kettle = environment.model.body("kettle").id
    bodies = environment.model.body_rootid[environment.model.geom_bodyid[environment.data.contact.geom]]
    assert all(kettle in pair for pair in bodies.tolist())
