"""Octo's fast path answers the plain path's actions for the same noise: every frame, flag and group of tokens."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from numpy.testing import assert_allclose
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from policies import checkpoints
from policies.networks.octo import Octo, OctoObservation, OctoTask
from policies.networks.octo_fast import FastOcto, TextMemory
from policies.octo.config import read_config
from policies.octo.shapes import InputShapes
from tests.policies.tiny_networks import IMAGES, fill, octo_json, tiny_octo

SIZES = {key.removeprefix("image_"): size for key, size in IMAGES.items()}
ROWS = 3
ROUNDING = 1e-3  # of actions up to 5: twenty steps of a network with random weights blow differences of 1e-6 up
MISSING = torch.tensor([0, 1, 0])
FLAGS: dict[str, dict[str, Any]] = {
    "as published": {},
    "the first release's reckoning of groups": {"use_correct_attention": False},
    "the same with one readout": {"use_correct_attention": False, "readouts": {"action": 1}},
    "task tokens are not repeated": {"repeat_task_tokens": False},
    "another readout": {"readouts": {"value": 3, "action": 2}},
}


def random(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def pictures(camera: str, window: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (ROWS, window, *SIZES[camera], 3), generator=generator, dtype=torch.uint8)


def texts(network: Octo) -> Tensor:
    ids = torch.tensor([[3, 4, 5, 6, 7, 1], [3, 4, 5, 7, 1, 0], [7, 1, 0, 0, 0, 0]])
    return network.encode_text(ids, ids != 0)


def plain(network: Octo, cameras: list[str], rows: slice, first: Tensor, later: Tensor) -> Tensor:
    window = network.config.window
    shown = torch.arange(window) >= MISSING.clamp(max=window - 1)[:, None]
    images = {camera: pictures(camera, window)[rows] for camera in cameras}
    task = OctoTask(texts(network)[rows])
    return network.sample(network(OctoObservation(images, shown[rows]), task), first[rows], later[:, rows])


def fast_actions(fast: FastOcto, text: Tensor, rows: slice, first: Tensor, later: Tensor) -> Tensor:
    window = fast.config.window
    frames = {
        camera: torch.stack([fast.look(camera, frame) for frame in pictures(camera, window)[rows].unbind(1)], 1)
        for camera in fast.cameras
    }
    memory = [fast.remember(row) for row in text[rows]]
    missing = MISSING.clamp(max=window - 1)[rows]
    return fast.sample(frames, missing, memory, first[rows, -1], later[:, rows, -1])


def compare(network: Octo, cameras: list[str]) -> None:
    window = network.config.window
    first, later = random(ROWS, window, 21), random(20, ROWS, window, 21, seed=1)
    everyone = slice(None)
    expected = plain(network, cameras, everyone, first, later)
    text, fast = texts(network), FastOcto(network, cameras)
    assert_allclose(fast_actions(fast, text, everyone, first, later), expected, atol=ROUNDING)
    for row in range(ROWS):
        alone = fast_actions(fast, text, slice(row, row + 1), first, later)
        assert_allclose(alone[0], expected[row], atol=ROUNDING)


@pytest.mark.parametrize("cameras", [["primary"], ["primary", "wrist"]], ids=" and ".join)
@pytest.mark.parametrize("changes", FLAGS.values(), ids=FLAGS)
def test_actions_are_those_of_the_plain_way(changes: dict[str, Any], cameras: list[str]) -> None:
    compare(tiny_octo(**changes), cameras)


@pytest.mark.parametrize("window", [1, 3])
def test_any_window_will_do(window: int) -> None:
    compare(made(octo_json(), window), ["primary"])


def test_a_camera_without_room_for_a_goal_will_do() -> None:
    data = octo_json()
    for camera in data["model"]["observation_tokenizers"].values():
        camera["kwargs"]["task_stack_keys"] = []
    compare(made(data, 2), ["primary", "wrist"])


def made(data: dict[str, Any], window: int) -> Octo:
    network = checkpoints.build(lambda: Octo(read_config(data | {"window_size": window}, InputShapes(IMAGES, window))))
    fill(network)
    return network


def test_the_head_without_norms_will_do() -> None:
    data = octo_json()
    data["model"]["heads"]["action"]["kwargs"]["use_layer_norm"] = False
    compare(made(data, 2), ["primary"])


def test_every_piece_of_noise_reaches_the_actions_but_the_last() -> None:
    network = tiny_octo()
    text, fast = texts(network), FastOcto(network, ["primary"])
    first, later = random(ROWS, 2, 21), random(20, ROWS, 2, 21, seed=1)
    before = fast_actions(fast, text, slice(None), first, later)
    for step in (0, 10, 18, 19):
        other = later.clone()
        other[step] += 0.5
        same = torch.equal(before, fast_actions(fast, text, slice(None), first, other))
        assert same == (step == 19)


def test_joined_weights_keep_their_names_and_values() -> None:
    network = tiny_octo()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    FastOcto(network, ["primary"])
    after = network.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_a_network_in_training_keeps_its_own_tensors() -> None:
    network = tiny_octo().requires_grad_(True)
    before = {name: id(parameter) for name, parameter in network.named_parameters()}
    FastOcto(network, ["primary"])
    assert {name: id(parameter) for name, parameter in network.named_parameters()} == before


def test_the_work_of_an_action_asks_the_device_for_no_number() -> None:
    """What a CUDA graph needs. Tensors without values stand in for a device: a question for a number would raise."""
    fast = FastOcto(tiny_octo(), ["primary"])
    memory = fast.remember(random(6, 24))
    with FakeTensorMode(allow_non_fake_inputs=True) as fake, torch.inference_mode():
        text, seen = fake.from_tensor(memory.tokens[None]), fake.from_tensor(memory.seen[:, :, None])
        (tokens,) = fast._stems["primary"](torch.zeros(1, *SIZES["primary"], 3, dtype=torch.uint8))
        noise = torch.zeros(1, 21), torch.zeros(20, 1, 21)
        missing = torch.zeros(1, dtype=torch.long)
        (actions,) = fast._actions(missing, text, seen, *noise, torch.stack([tokens, tokens], 1))
    assert actions.shape == (1, 3, 7)


def test_what_is_kept_of_a_text_depends_on_that_text_alone() -> None:
    network = tiny_octo()
    fast, text = FastOcto(network, ["primary"]), texts(network)
    first = [fast.remember(row) for row in text]
    again = [fast.remember(row) for row in text.flip(0)][::-1]
    assert all(same(one, other) for one, other in zip(first, again, strict=True))
    assert not same(first[0], first[1])


def same(one: TextMemory, other: TextMemory) -> bool:
    return torch.equal(one.tokens, other.tokens) and torch.equal(one.seen, other.seen)
