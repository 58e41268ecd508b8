"""What holds of every robot in every scene of the catalogue and its variants, without a line here for a new one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from simulation import catalogue, worlds
from simulation.bundle import write_scene_bundle
from simulation.cameras import render_profile
from simulation.contracts import CameraSpec, Limits, Observation
from simulation.environment import Environment
from simulation.episode_format import build_document
from simulation.recorder import Recorder
from simulation.runner import run_episode
from simulation.variation import Variation
from simulation.verification import verify_document
from tests.simulation.fakes import FakePolicy

WORLDS = [f"{robot}/{scene}" for robot, scene in catalogue.worlds()]
VARIANTS = [f"{world}/{variant}" for world in WORLDS for variant in worlds.SCENES[world.split("/")[1]].VARIANTS]
START = """
import sys
from simulation.environment import Environment
from simulation.variation import Variation
environment = Environment(*sys.argv[1:3], Variation(variant=sys.argv[3]))
environment.reset(99)
print(environment.reset(7).hash(environment.engine_version, environment.scene_hash))
"""


def opened(name: str) -> Environment:
    robot_id, scene_id, variant = name.split("/")
    return Environment(robot_id, scene_id, Variation(variant=variant))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_seed_gives_the_same_start_in_another_process(name: str) -> None:
    environment = opened(name)
    here = environment.reset(7).hash(environment.engine_version, environment.scene_hash)
    asked = subprocess.run(
        [sys.executable, "-c", START, *name.split("/")], capture_output=True, text=True, check=True
    ).stdout
    assert asked.strip() == here
    assert environment.reset(8).hash(environment.engine_version, environment.scene_hash) != here


@pytest.mark.parametrize("name", VARIANTS)
def test_all_that_a_seed_varies_is_in_joint_positions_of_the_right_size(name: str) -> None:
    world = opened(name).world
    for seed in range(5):
        for joint, positions in world.sample(np.random.default_rng(seed)).items():
            kind = world.model.joint(joint).type[0]
            assert len(positions) == (7 if kind == int(mujoco.mjtJoint.mjJNT_FREE) else 1), joint
    for thing in world.objects:
        assert world.model.joint(thing).type[0] == int(mujoco.mjtJoint.mjJNT_FREE), thing
    for thing in (*world.objects, *world.targets):
        assert world.model.body(thing).id > 0


@pytest.mark.parametrize("name", VARIANTS)
def test_nothing_moves_of_itself(name: str) -> None:
    environment = opened(name)
    environment.reset(3)
    still = environment.controller.still()
    before = {thing: environment.view.position(thing).copy() for thing in environment.world.objects}
    for _ in range(environment.world.control_hz):
        environment.step(still)
    for thing, place in before.items():
        assert np.linalg.norm(environment.view.position(thing) - place) < 0.002, thing


@pytest.mark.parametrize("name", WORLDS)
def test_its_recording_is_verified_and_says_what_made_it(name: str) -> None:
    environment, recorder = opened(f"{name}/"), Recorder()
    environment.reset(4)
    rng = np.random.default_rng(0)

    def shaken(_: Observation) -> np.ndarray:
        still = environment.controller.still()
        return (still + rng.normal(size=len(still)) * 0.02)[None, :]

    cameras = tuple(
        CameraSpec(each.name, 32, 48) for each in catalogue.embodiment(*name.split("/")).cameras
    )  # all of them at once
    limits = Limits(max_steps=environment.world.steps_in(4))
    run_episode(environment, FakePolicy(shaken), "hello", 0, [recorder], limits, cameras=cameras)
    robot_id, scene_id = name.split("/")
    identity = {"_id": "ep", "robot_id": robot_id, "scene_id": scene_id, "instruction": "hello"}
    document = build_document(identity, recorder.recording, environment, render_profile())
    assert verify_document(document) is None
    assert document["controller"] == environment.controller.id


@pytest.mark.parametrize("name", WORLDS)
def test_a_browser_can_load_its_files(name: str, tmp_path: Path) -> None:
    manifest = write_scene_bundle(*name.split("/"), tmp_path)
    assets = {asset["name"]: (tmp_path / asset["file"]).read_bytes() for asset in manifest["assets"]}
    model = mujoco.MjModel.from_xml_string((tmp_path / manifest["xml"]).read_text(), assets)
    assert (model.nq, model.nv, model.nu) == (manifest["nq"], manifest["nv"], manifest["nu"])
    assert len(manifest["motors"]) == model.nu
    assert len(manifest["control"]) == manifest["control_size"]
    assert len(manifest["action"]) == manifest["action_size"]
    assert all(0 <= motor["column"] < manifest["control_size"] for motor in manifest["motors"])
    period = manifest["ramp"]["pieces"] * manifest["ramp"]["substeps"] * manifest["timestep"]
    assert period == pytest.approx(1 / manifest["control_hz"])
