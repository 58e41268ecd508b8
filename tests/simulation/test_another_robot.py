"""A robot with another action space, rate, memory and camera plays, is recorded, verified and shown in browsers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from arena.store import get_store
from policies.base import WrongEmbodiment
from policies.embodiment import mismatches
from policies.registry import describe
from robots import progress
from robots.players import EXPERT, STILL, PlayerSource, open_player
from simulation import catalogue, worlds
from simulation.bundle import write_scene_bundle
from simulation.cameras import render_profile
from simulation.contracts import CameraSpec, Floats, Limits, Observation, PolicyFailure, SpecError
from simulation.environment import Environment, StateMismatch
from simulation.episode_format import EpisodeFormatError, actions_of, build_document, record_of_chunk, to_float64
from simulation.pictures import moments_of, rows_of
from simulation.recorder import Recorder
from simulation.runner import run_episode
from simulation.verification import ReplayDifference, verify_document
from simulation.view_format import OpenChunk, chunks_in, pack, unpack
from simulation.worlds import WorldError
from tests.simulation.fakes import Diary, FakePolicy
from tests.simulation.planar import Planar, register
from tests.simulation.test_browser_physics import checked

STEPS = 30
CAMERAS = (CameraSpec("workspace", 64, 64), CameraSpec("wrist", 48, 64))


@pytest.fixture
def planar(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Environment]]:
    def make(**options: Any) -> Environment:
        robot = Planar(**options)
        register(monkeypatch, robot)
        return Environment(robot.id, "table")

    yield make
    worlds.forget_worlds()


def sweep(observation: Observation) -> Floats:
    """Both joints, as fast as they go, there and back, four actions at once."""
    return np.tile([-1.5, -2.0 if observation.step < 20 else 1.0], (4, 1))


def played(environment: Environment, steps: int = STEPS) -> dict[str, Any]:
    recorder = Recorder()
    environment.reset(5)
    limits = Limits(max_steps=steps)
    run_episode(environment, FakePolicy(sweep), "sweep the table", 0, [recorder], limits, cameras=CAMERAS)
    identity = {
        "_id": "ep",
        "robot_id": environment.world.robot_id,
        "scene_id": "table",
        "instruction": "sweep the table",
    }
    return build_document(identity, recorder.recording, environment, render_profile())


def test_it_plays_and_its_recording_says_what_made_it(planar: Callable[..., Environment]) -> None:
    environment = planar()
    document = played(environment)
    assert actions_of(document).shape == (STEPS, 2)
    assert len(document["control"][0]) == 2
    assert document["states"][-1]["time"] == pytest.approx(STEPS / 20)
    told = {name: document[name] for name in ("controller", "control_hz", "action_space", "action_size", "look")}
    assert told == {
        "controller": "planar-1",
        "control_hz": 20,
        "action_space": "joint_velocity_2",
        "action_size": 2,
        "look": "look-1",
    }
    assert document["engine_version"].startswith("mujoco ")
    assert abs(document["control"][-1][0] - document["control"][0][0]) > 1.0


def test_its_rows_come_25_times_a_second_and_its_recording_is_verified(planar: Callable[..., Environment]) -> None:
    environment = planar()
    document = played(environment)
    rows = unpack(document["view"], environment.model.nq)
    assert len(rows) == 1 + STEPS * 25 // 20 + 1  # the end, which falls between two rows
    assert verify_document(document) is None
    changed = [[action[0] + 0.5, action[1]] for action in document["actions"]]
    assert verify_document({**document, "actions": changed}) == ReplayDifference(1, "qpos differs")
    other = verify_document({**document, "controller": "planar-2"})
    assert other == ReplayDifference(0, "recorded with controller planar-2, here it is planar-1")
    assert len(moments_of(document, rows_of(document))) == 4


def test_a_browser_repeats_it_from_the_manifest_alone(planar: Callable[..., Environment], tmp_path: Path) -> None:
    document = played(planar())
    manifest = write_scene_bundle("planar", "table", tmp_path / "bundle")
    assert (manifest["control_hz"], manifest["control_size"], manifest["action_size"]) == (20, 2, 2)
    assert manifest["ramp"] == {"pieces": 5, "substeps": 5}
    assert manifest["motors"] == [{"column": 0, "ramped": True}, {"column": 1, "ramped": True}]
    assert (manifest["pads"], manifest["tool_site"]) == ([], "p/tip")
    found = checked(tmp_path / "bundle", to_float64(document))
    assert (found["verdict"], found["grasp"]) == ("same", None)
    assert found["step"] < 1e-12


@pytest.mark.parametrize("steps", [1, 3, 4, 7, 16, 25])
def test_at_80_hz_a_step_has_no_row_or_one_and_chunks_are_complete(
    planar: Callable[..., Environment], steps: int
) -> None:
    environment = planar(control_hz=80, timestep=0.0025)
    diary = Diary()
    environment.reset(5)
    limits = Limits(max_steps=steps)
    run_episode(environment, FakePolicy(sweep), "sweep", 0, [diary], limits, cameras=())
    assert {len(record.between) for record in diary.records} <= {0, 1}
    assert sum(len(record.between) for record in diary.records) == steps * 25 // 80
    chunk = OpenChunk(80)
    chunks = [part for record in diary.records for part in chunk.add(record.between, record.state.qpos)]
    chunks += chunk.close()
    assert len(chunks) == chunks_in(steps, 80) == -(-steps // 16)
    assert {part.shape for part in chunks} == {(5, environment.model.nq)}
    assert chunks[-1][-1].tobytes() == diary.records[-1].state.qpos.tobytes()
    document = played(environment, steps)
    shown = unpack(document["view"], environment.model.nq) * environment.world.view_scale
    assert np.abs(shown[-1] - document["states"][-1]["qpos"]).max() <= environment.world.view_scale.max()
    assert verify_document(document) is None


def test_a_visitor_chooses_the_record_at_the_end_of_a_fifth_of_a_second(planar: Callable[..., Environment]) -> None:
    document = played(planar())
    assert [record_of_chunk(document, chunk) for chunk in (0, 1, 7, 8)] == [0, 4, 28, STEPS]
    old = {name: value for name, value in document.items() if name != "control_hz"}
    assert record_of_chunk(old, 7) == 7


def test_wrong_lengths_are_refused_with_the_sizes_wanted(planar: Callable[..., Environment]) -> None:
    environment = planar()
    with pytest.raises(SpecError, match=r"action: expected float64\[2\], got float64\[7\]"):
        environment.step(np.zeros(7))
    with pytest.raises(PolicyFailure, match=r"actions: expected float64\[any, 2\], got float64\[1, 7\]"):
        run_episode(environment, FakePolicy(lambda _: np.zeros((1, 7))), "sweep", 0, cameras=())
    with pytest.raises(PolicyFailure, match=r"expected 1..20 rows, got 21"):
        run_episode(environment, FakePolicy(lambda _: np.zeros((21, 2))), "sweep", 0, cameras=())
    foreign = Environment().reset(0)
    with pytest.raises(StateMismatch, match="qpos: expected 34 numbers for planar in scene table, got \\(40,\\)"):
        environment.restore(foreign)
    with pytest.raises(EpisodeFormatError, match="expected 2 numbers each, got 3"):
        actions_of({"actions": [[0.0] * 3], "action_size": 2})


def test_a_policy_gets_the_cameras_it_names_from_the_scene_and_from_the_hand(
    planar: Callable[..., Environment],
) -> None:
    environment = planar()
    environment.reset(5)
    before = environment.observe("sweep", cameras=CAMERAS)
    assert {name: image.shape for name, image in before.images.items()} == {
        "workspace": (64, 64, 3),
        "wrist": (48, 64, 3),
    }
    assert before.proprioception.shape == (2,)
    for _ in range(10):
        environment.step(np.array([-2.0, 0.0]))
    after = environment.observe("sweep", cameras=CAMERAS)
    moved = np.abs(after.images["wrist"].astype(int) - before.images["wrist"]).mean()
    assert moved > 5, "the picture of the hand's camera turns with it"
    with pytest.raises(WorldError, match="unknown camera 'tail'; table has front, side, top, workspace, wrist"):
        environment.picture(CameraSpec("tail", 64, 64))


def test_live_chunks_are_complete_and_end_where_the_rollout_does(
    planar: Callable[..., Environment], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = planar()
    told: list[bytes] = []
    monkeypatch.setattr(progress.actions, "pass_chunks", lambda attempt, first, chunks: told.extend(chunks))
    reporter = progress.Reporter(SimpleNamespace(episode_id="ep"), environment.world.view_scale, 20)
    environment.reset(5)
    with reporter:
        run_episode(environment, FakePolicy(sweep), "sweep", 0, [reporter], Limits(max_steps=7), cameras=())
    row = 2 * environment.model.nq
    assert [len(chunk) // row for chunk in told] == [1, 5, 5]
    assert len(told) - 1 == chunks_in(7, 20)
    assert told[-1][-row:] == pack(environment.data.qpos[None], environment.world.view_scale)


@pytest.mark.django_db
def test_the_command_plays_it_for_as_long_as_the_others(planar: Callable[..., Environment]) -> None:
    planar()
    out = StringIO()
    sides = ("--left", "hold-still", "--right", "hold-still", "--robot", "planar", "--scene", "table")
    call_command("play", "stay where you are", *sides, "--json", stdout=out)
    answer = json.loads(out.getvalue())
    assert [answer[side]["steps"] for side in ("left", "right")] == [200, 200]
    document = get_store().get(answer["left"]["episode_id"])
    assert document is not None
    assert verify_document(document) is None
    with pytest.raises(CommandError, match="planar takes the action space 'joint_velocity_2'"):
        call_command("play", "stay", "--left", "film-early", *sides[2:], stdout=StringIO())


def test_only_policies_made_for_it_may_play_it(planar: Callable[..., Environment], settings: Any) -> None:
    environment = planar()
    world = catalogue.embodiment("planar", "table")
    assert [camera.name for camera in world.cameras] == ["workspace", "front", "side", "top", "wrist"]
    shipped = describe(Path(settings.POLICY_WEIGHTS) / "film-early").spec
    assert mismatches(shipped, world) == [
        "planar takes the action space 'joint_velocity_2', not 'eef_delta_bridge7'",
        "planar is controlled at 20 Hz, not 5 Hz",
        "planar feels 'joints_2', not 'eef_pose_bridge8'",
    ]
    with pytest.raises(WrongEmbodiment, match="there is no scripted expert for planar"):
        open_player(PlayerSource(EXPERT), environment)
    environment.reset(0)
    before = environment.proprioception()
    result = open_player(PlayerSource(STILL), environment).play(environment, "stay", 0, limits=Limits(max_steps=5))
    assert result.steps == 5
    assert environment.proprioception() == pytest.approx(before, abs=1e-3)


def test_a_goal_is_judged_by_its_own_tool_and_is_held_for_a_second_of_its_own_steps(
    planar: Callable[..., Environment],
) -> None:
    environment = planar()
    environment.reset(0)
    environment.set_instruction("pick up the red cube")
    outcome = environment.step(np.zeros(2))
    assert 0.0 <= outcome.judgement.progress < 0.3
    assert environment.view.pads_touching("red_cube") == 0
    assert environment.world.steps_in(50) == 200


def test_what_a_robot_and_the_catalogue_say_differently_is_told(
    planar: Callable[..., Environment], monkeypatch: pytest.MonkeyPatch
) -> None:
    planar()
    monkeypatch.setitem(worlds.ROBOTS, "planar", Planar(control_hz=40))
    worlds.forget_worlds()
    with pytest.raises(WorldError, match=r"planar: robots\.yaml says control_hz 20, the robot itself 40"):
        worlds.load_world("planar", "table")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"control_hz": 80}, "at 80 Hz each of 5 pieces has 1.25 physics steps of 0.002 s"),
        ({"control_hz": 100}, r"expected a control rate of 5\.\.80 Hz, got 100"),
        ({"control_hz": 4}, r"expected a control rate of 5\.\.80 Hz, got 4"),
    ],
)
def test_a_rate_that_physics_cannot_keep_is_refused(
    planar: Callable[..., Environment], options: dict[str, int], reason: str
) -> None:
    with pytest.raises(WorldError, match=reason):
        planar(**options)


def test_an_unknown_variant_is_refused_with_the_known(planar: Callable[..., Environment]) -> None:
    with pytest.raises(WorldError, match="table has no variant 'sixth'; it has '', 'fifth_object'"):
        worlds.load_world("widowx", "table", "sixth")


def test_the_manifest_of_the_widowx_is_what_browsers_were_told_before(tmp_path: Path) -> None:
    manifest = write_scene_bundle("widowx", "table", tmp_path)
    assert manifest["motors"] == [{"column": column, "ramped": column < 6} for column in range(7)]
    assert (manifest["control_size"], manifest["action_size"]) == (14, 7)
    assert manifest["ramp"] == {"pieces": 10, "substeps": 10}
    assert manifest["view"]["rows_per_step"] == 5
    assert json.loads((tmp_path / "manifest.json").read_text())["controller"] == "widowx-delta-euler-1"
