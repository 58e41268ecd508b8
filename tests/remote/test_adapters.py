"""What the arena plays of a server's answer, and what a server is shown: one configuration for each convention."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from policies.base import BadCard, PolicySpec
from policies.remote import poses
from policies.remote.actions import ActionForm
from policies.remote.contract import Contract
from policies.remote.errors import BadFrame
from policies.remote.sights import PictureForm, state
from simulation.contracts import CameraSpec, Chunking
from simulation.control.tool_pose import euler, turned
from simulation.environment import Environment

RNG = np.random.default_rng(3)
FELT = np.array([0.3, 0.1, 0.2, 0.0, 1.0, 0.0, 0.0, 1.0])


def action(*numbers: float) -> Any:
    return np.array([numbers], np.float32)


def spec(**changed: Any) -> PolicySpec:
    usual = {"cameras": (CameraSpec("workspace", 128, 128),), "chunk": 4, "chunking": Chunking(4), "statistics_key": ""}
    return PolicySpec(**{"id": "far", "name": "Far", "family": "remote", **usual, **changed})


def contract(**network: Any) -> Contract:
    return Contract.of(spec(), {"url": "ws://127.0.0.1:1", **network})


def test_a_delta_in_angles_is_played_as_it_is() -> None:
    told = action(0.01, -0.02, 0.03, 0.1, -0.2, 0.3, 1.0)
    np.testing.assert_allclose(ActionForm().adapted(told, FELT, 1), told, rtol=1e-6)


def test_a_rotation_vector_turns_the_tool_as_the_same_angles_do() -> None:
    vector = np.array([0.2, -0.1, 0.4])
    told = ActionForm(rotation="axis_angle").adapted(action(0, 0, 0, *vector, 0), FELT, 1)
    np.testing.assert_allclose(euler(told[0, 3:6].copy()), vector, atol=1e-6)


LIBERO = {
    "action_space": "eef_delta_libero7",
    "proprioception": "libero_state8",
    "rate_hz": 20,
    "cameras": (CameraSpec("agentview", 224, 224), CameraSpec("wrist", 224, 224)),
    "chunk": 5,
    "chunking": Chunking(5),
}


def test_a_server_for_libero_is_asked_and_answers_in_liberos_own_numbers() -> None:
    theirs = Contract.of(spec(**LIBERO), {"url": "ws://127.0.0.1:1", "actions": {"horizon": 10}})
    assert [form.key for form in theirs.images.values()] == ["observation/image", "observation/wrist_image"]
    assert theirs.state == {"observation/state": "proprioception"}
    told = RNG.uniform(-1, 1, (10, 7))
    np.testing.assert_array_equal(theirs.actions.adapted(told, FELT, 5), told[:5])


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ({"actions": {"opened": -1}}, "actions, which are played as they are in eef_delta_libero7, has unknown"),
        ({"state": {"observation/state": "pose_euler"}}, "expected one of proprioception, got 'pose_euler'"),
        ({"dialect": "roboarena"}, "the dialect 'roboarena' has no form for 'eef_delta_libero7'"),
    ],
)
def test_what_has_no_meaning_there_is_refused(network: dict[str, Any], said: str) -> None:
    with pytest.raises(BadCard, match=said):
        Contract.of(spec(**LIBERO), {"url": "ws://127.0.0.1:1", **network})


def test_bridge_data_s_reading_is_not_told_to_a_server_for_libero() -> None:
    with pytest.raises(BadCard, match="a server is told 'libero_state8', not 'eef_pose_bridge8'"):
        Contract.of(spec(**{**LIBERO, "proprioception": "eef_pose_bridge8"}), {"url": "ws://127.0.0.1:1"})


def test_an_absolute_pose_is_the_way_there_from_where_the_tool_is_and_then_from_pose_to_pose() -> None:
    form = ActionForm(pose="absolute")
    told = np.array([[0.32, 0.1, 0.2, 0, 0, 0.5, 1], [0.32, 0.13, 0.2, 0, 0, 0.5, 1]])
    rows = form.adapted(told, FELT, 2)
    np.testing.assert_allclose(rows[0], [0.02, 0, 0, 0, 0, 0.5, 1], atol=1e-9)
    np.testing.assert_allclose(rows[1], [0, 0.03, 0, 0, 0, 0, 1], atol=1e-9)


@pytest.mark.parametrize("rotation", ["euler", "axis_angle"])
@pytest.mark.parametrize("frame", ["down", "base"])
def test_the_way_to_an_absolute_pose_ends_in_it(rotation: str, frame: str) -> None:
    for _ in range(20):
        start = poses.matrix_of_euler(RNG.uniform(-0.6, 0.6, 3)) @ poses.DOWN
        goal = poses.matrix_of_euler(RNG.uniform(-0.6, 0.6, 3)) @ poses.DOWN
        place, felt = RNG.uniform(-0.3, 0.3, 3), poses.felt_from(RNG.uniform(-0.3, 0.3, 3), start, 0.5)
        told = poses.WRITERS[rotation](goal @ poses.FRAMES[frame].T)
        way = ActionForm(pose="absolute", rotation=rotation, frame=frame).adapted(action(*place, *told, 0), felt, 1)[0]
        quaternion, reached = np.empty(4), np.empty(9)
        mujoco.mju_mat2Quat(quaternion, start.flatten())
        mujoco.mju_quat2Mat(reached, turned(quaternion, euler(way[3:6].copy())))
        np.testing.assert_allclose(reached.reshape(3, 3), goal, atol=1e-5)
        np.testing.assert_allclose(felt[:3] + way[:3], place, atol=1e-6)


def test_an_arm_that_is_told_absolute_poses_gets_there() -> None:
    environment = Environment("widowx", "table")
    environment.reset(0)
    goal = np.array([0.25, 0.05, 0.15, 0.0, 0.0, 0.3, 1.0])
    form = ActionForm(pose="absolute")
    for _ in range(15):
        environment.step(form.adapted(goal, environment.proprioception(), 1)[0])
    felt = environment.proprioception()
    np.testing.assert_allclose(felt[:3], goal[:3], atol=3e-3)
    np.testing.assert_allclose(np.arctan2(felt[3], felt[4]), 0.3, atol=0.03)


def test_a_sign_flips_its_number_alone() -> None:
    told = ActionForm(signs=(1, -1, 1, 1, 1, -1)).adapted(action(0.01, 0.02, 0.03, 0.1, 0.2, 0.3, 1), FELT, 1)
    np.testing.assert_allclose(told[0], [0.01, -0.02, 0.03, 0.1, 0.2, -0.3, 1], rtol=1e-6)


@pytest.mark.parametrize(
    ("opened", "closed", "threshold", "told", "played"),
    [
        (0.0, 1.0, None, 0.2, 0.8),  # 1 is closed
        (-1.0, 1.0, None, 0.0, 0.5),  # LIBERO: -1 open, 1 closed
        (1.0, -1.0, None, 1.0, 1.0),
        (0.04, 0.0, None, 0.01, 0.25),  # the fingers' way in metres
        (1.0, 0.0, None, 1.7, 1.0),  # a little beyond
        (1.0, 0.0, 0.5, 0.6, 1.0),
        (1.0, 0.0, 0.5, 0.4, 0.0),
        (-1.0, 1.0, 0.5, 0.2, 0.0),
    ],
)
def test_the_gripper_is_told_in_its_own_range(
    opened: float, closed: float, threshold: float | None, told: float, played: float
) -> None:
    form = ActionForm(opened=opened, closed=closed, threshold=threshold)
    assert form.adapted(action(0, 0, 0, 0, 0, 0, told), FELT, 1)[0, 6] == pytest.approx(played)


def test_of_a_long_horizon_the_first_chunk_is_played_and_another_length_is_refused() -> None:
    form = ActionForm(horizon=10)
    assert len(form.adapted(np.zeros((10, 7)), FELT, 4)) == 4
    with pytest.raises(BadFrame, match=r"shape \[9, 7\]; expected \[10, 7\]"):
        form.adapted(np.zeros((9, 7)), FELT, 4)
    assert len(ActionForm(horizon=None).adapted(np.zeros((3, 7)), FELT, 4)) == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (np.zeros((4, 8)), r"shape \[4, 8\]; expected \[4, 7\]"),
        (np.zeros((1, 4, 7)), r"shape \[1, 4, 7\]"),
        (np.zeros(7), r"shape \[7\]"),
        (np.zeros((0, 7)), r"shape \[0, 7\]"),
        (np.full((4, 7), np.nan), "NaN or infinity"),
        (np.full((4, 7), np.inf, np.float16), "NaN or infinity"),
        (np.full((4, 7), 1e30), "no metres and radians"),
        (np.zeros((4, 7), bool), "type bool"),
        (None, "type NoneType"),
    ],
)
def test_actions_that_nobody_could_play_are_refused(answer: Any, said: str) -> None:
    with pytest.raises(BadFrame, match=said):
        ActionForm(horizon=4).adapted(answer, FELT, 4)


def picture() -> Any:
    """128 x 128, red in the upper left quarter, green in a frame around it all."""
    image = np.zeros((128, 128, 3), np.uint8)
    image[:64, :64, 0] = 200
    image[:8], image[-8:], image[:, :8], image[:, -8:] = ((0, 255, 0),) * 4
    return image


def test_a_picture_without_adaptation_is_sent_as_it_is() -> None:
    np.testing.assert_array_equal(PictureForm("image", 128, 128).adapted(picture()), picture())


def test_a_crop_keeps_the_middle() -> None:
    cropped = PictureForm("image", 112, 112, crop=0.875).adapted(picture())
    assert cropped.shape == (112, 112, 3)
    assert cropped[..., 1].max() == 0
    assert cropped[10, 10].tolist() == [200, 0, 0]


@pytest.mark.parametrize(("turn", "corner"), [(90, (100, 20)), (180, (100, 100)), (270, (20, 100))])
def test_a_turn_is_against_the_clock(turn: int, corner: tuple[int, int]) -> None:
    assert PictureForm("image", 128, 128, turn=turn).adapted(picture())[corner].tolist() == [200, 0, 0]


def test_another_size_is_resized_with_a_border_or_stretched_as_openpi_does() -> None:
    from openpi_client import image_tools

    padded = PictureForm("image", 96, 224).adapted(picture())
    np.testing.assert_array_equal(padded, image_tools.resize_with_pad(picture(), 96, 224))
    stretched = PictureForm("image", 96, 224, fit="stretch").adapted(picture())
    assert padded.shape == stretched.shape == (96, 224, 3)
    assert padded[:, 0].max() == 0
    assert stretched[:, 0, 1].min() > 200


def test_states_come_from_the_arm_in_the_form_that_is_asked_for() -> None:
    rotation = poses.matrix_of_euler([0.1, -0.2, 0.7]) @ poses.DOWN
    felt = poses.felt_from([0.3, 0.1, 0.2], rotation, 0.25).astype(np.float32)
    np.testing.assert_array_equal(state("proprioception", felt, "down"), felt)
    np.testing.assert_allclose(state("pose_euler", felt, "down"), [0.3, 0.1, 0.2, 0.1, -0.2, 0.7], atol=1e-5)
    vector = state("pose_axis_angle", felt, "down")[3:]
    np.testing.assert_allclose(poses.matrix_of_vector(vector) @ poses.DOWN, rotation, atol=1e-5)
    based = state("pose_axis_angle", felt, "base")[3:]
    np.testing.assert_allclose(poses.matrix_of_vector(based), rotation, atol=1e-5)
    assert (
        state("pose_euler_gripper", felt, "down").shape == state("pose_axis_angle_gripper", felt, "down").shape == (7,)
    )
    assert state("gripper", felt, "down").tolist() == [0.25]
    assert state("pose_euler", felt, "down").dtype == np.float32


def test_the_rotation_that_the_arm_tells_is_the_tools() -> None:
    environment = Environment("widowx", "table")
    environment.reset(1)
    for _ in range(6):
        environment.step(np.array([0.01, 0.02, 0.0, 0.15, -0.1, 0.2, 1.0]))
    tool = environment.model.site("w/tool").id
    found = poses.tool_rotation(environment.proprioception())
    np.testing.assert_allclose(found, environment.data.site_xmat[tool].reshape(3, 3), atol=1e-5)


def test_rotations_survive_every_form() -> None:
    for _ in range(50):
        matrix = poses.matrix_of_euler(RNG.uniform(-3, 3, 3))
        np.testing.assert_allclose(poses.matrix_of_euler(poses.euler_of_matrix(matrix)), matrix, atol=1e-9)
        np.testing.assert_allclose(poses.matrix_of_vector(poses.vector_of_matrix(matrix)), matrix, atol=1e-7)
    for vector in ([np.pi, 0, 0], [0, 0, np.pi - 1e-6], [1e-9, 0, 0], [0, 0, 0]):
        matrix = poses.matrix_of_vector(vector)
        np.testing.assert_allclose(poses.matrix_of_vector(poses.vector_of_matrix(matrix)), matrix, atol=1e-6)
    pitched = poses.matrix_of_euler([0.4, np.pi / 2, 0.1])
    np.testing.assert_allclose(poses.matrix_of_euler(poses.euler_of_matrix(pitched)), pitched, atol=1e-6)


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ({"colour": 1}, "network has unknown fields colour; known: actions"),
        ({"url": 7}, "url: expected a text"),
        ({"dialect": "grpc"}, "expected one of openpi, roboarena, vla_eval, got 'grpc'"),
        ({"key_variable": "ARENA_SECRET_KEY"}, "ends in _API_KEY"),
        ({"infer_s": 0}, r"infer_s: expected a number, 0\.01\.\.30"),
        ({"images": {"wrist": {}}}, "images has unknown fields wrist; known: workspace"),
        ({"images": {"workspace": {"turn": 45}}}, "turn: expected one of 0, 90, 180, 270, got 45"),
        ({"images": {"workspace": {"crop": 2}}}, "crop: expected a number"),
        ({"images": {"workspace": {"height": 0}}}, "height: expected a whole number, 1..4096"),
        ({"state": {"observation/state": "joints"}}, "expected one of proprioception, pose_euler"),
        ({"actions": {"pose": "velocity"}}, "pose: expected one of delta, absolute"),
        ({"actions": {"rotation": "quaternion"}}, "rotation: expected one of euler, axis_angle"),
        ({"actions": {"signs": [1, 1, 2, 1, 1, 1]}}, "six of 1 or -1"),
        ({"actions": {"opened": 1.0, "closed": 1.0}}, "the same number"),
        ({"actions": {"horizon": 3}}, "a horizon of 3 has no chunk of 4"),
        ({"actions": {"opened": float("nan")}}, "opened: expected a number"),
        ({"actions": []}, "actions: expected an object"),
        ({"session": "yes"}, "true or false"),
        ({"prompt": ""}, "prompt: expected a text"),
    ],
    ids=str,
)
def test_a_configuration_that_means_nothing_is_refused_with_what_would_be_right(network: Any, said: str) -> None:
    with pytest.raises(BadCard, match=said):
        contract(**network)


def test_absolute_poses_are_not_averaged_and_other_spaces_not_spoken() -> None:
    with pytest.raises(BadCard, match="cannot be averaged"):
        Contract.of(spec(chunking=Chunking(ensemble=0.9)), {"url": "ws://x", "actions": {"pose": "absolute"}})
    with pytest.raises(BadCard, match="'eef_delta_bridge7' or 'eef_delta_libero7', not 'joints6'"):
        Contract.of(spec(action_space="joints6"), {"url": "ws://x"})
    with pytest.raises(BadCard, match="reads nothing of the arm"):
        Contract.of(spec(proprioception=""), {"url": "ws://x", "state": {"s": "gripper"}})
    assert Contract.of(spec(proprioception=""), {"url": "ws://x"}).state == {}
