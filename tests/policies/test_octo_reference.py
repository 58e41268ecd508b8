"""Octo does what the published code does: its outputs at a tiny size are stored for seven cases of masking."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from torch import Tensor

from policies.networks.octo import Octo, OctoObservation, OctoTask
from tests.policies.tiny_networks import DATA, IMAGES, tiny_octo

Reference = dict[str, NDArray[Any]]
BATCH, WINDOW = 2, 2
TASK_SIZES, STEP_SIZES = [6], [12, 4, 6, 2]

CASES = {
    "A": "a full window",
    "B": "the first frame only pads",
    "C": "a camera is switched off",
    "D": "a camera is absent, and the window is one frame",
    "E": "a goal picture without language",
    "F": "the first release's reckoning of groups",
    "G": "task tokens are not repeated",
}


class Inputs(NamedTuple):
    images: dict[str, Tensor]
    goals: dict[str, Tensor]
    first: Tensor
    later: Tensor


@pytest.fixture(scope="module")
def reference() -> Reference:
    return dict(np.load(DATA / "octo_reference.npz"))


@pytest.fixture(scope="module")
def network() -> Octo:
    return tiny_octo()


@pytest.fixture(scope="module")
def inputs() -> Inputs:
    """The same draws as those that the reference was made with."""
    seen, wanted, noise = (np.random.default_rng(seed) for seed in (0, 9, 5))
    names = {key.removeprefix("image_"): size for key, size in IMAGES.items()}
    images = {
        name: torch.from_numpy(seen.integers(0, 256, (BATCH, WINDOW, *size, 3), dtype=np.uint8))
        for name, size in names.items()
    }
    goals = {
        name: torch.from_numpy(wanted.integers(0, 256, (BATCH, *size, 3), dtype=np.uint8))
        for name, size in names.items()
    }
    first, later = (
        torch.from_numpy(noise.standard_normal(shape).astype(np.float32))
        for shape in ((BATCH, WINDOW, 21), (20, BATCH, WINDOW, 21))
    )
    return Inputs(images, goals, first, later)


def set_up(case: str, network: Octo, inputs: Inputs, text: Tensor) -> tuple[Octo, OctoObservation, OctoTask]:
    whole = torch.ones(BATCH, WINDOW, dtype=torch.bool)
    padded = whole.clone()
    padded[:, 0] = False
    observation, task = OctoObservation(inputs.images, whole if case == "A" else padded), OctoTask(text)
    changes: dict[str, Any] = {}
    if case == "C":
        observation = replace(observation, camera_masks={"wrist": torch.zeros_like(whole)})
    if case == "D":
        observation = OctoObservation({"primary": inputs.images["primary"][:, :1]}, whole[:, :1])
    if case == "E":
        task = OctoTask(text, torch.zeros(BATCH, dtype=torch.bool), inputs.goals)
    if case == "F":
        changes = {"use_correct_attention": False}
    if case == "G":
        changes = {"repeat_task_tokens": False}
    return (tiny_octo(**changes) if changes else network), observation, task


@pytest.fixture(scope="module")
def text(network: Octo, reference: Reference) -> Tensor:
    ids = torch.from_numpy(reference["ids"])
    return network.encode_text(ids, ids != 0)


def test_the_text_encoder_gives_the_published_states(reference: Reference, text: Tensor) -> None:
    assert_allclose(text.numpy(), reference["t5"], atol=2e-5)


def test_the_stems_give_the_published_tokens(reference: Reference, network: Octo, inputs: Inputs) -> None:
    for camera, count in (("primary", 1), ("wrist", BATCH)):
        tokens = network.image_tokens(camera, inputs.images[camera])[:count]
        assert_allclose(tokens.numpy(), reference[f"stem_{camera}"], atol=5e-5)


def test_the_schedule_is_the_published_one(reference: Reference, network: Octo) -> None:
    schedule = network.heads_action.schedule
    assert_allclose(schedule.betas, reference["betas"], atol=2e-6)
    assert_allclose(schedule.alphas, reference["alphas"], atol=2e-6)
    assert_allclose(schedule.remaining, reference["alpha_hats"], atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=[f"{case}: {words}" for case, words in CASES.items()])
class TestEachCase:
    def test_the_mask_is_the_published_one(
        self, case: str, reference: Reference, network: Octo, inputs: Inputs, text: Tensor
    ) -> None:
        chosen, observation, task = set_up(case, network, inputs, text)
        mask = chosen.attention_mask(*chosen.token_groups(observation, task))
        size = int(reference[f"{case}/mask_size"])
        published = np.unpackbits(reference[f"{case}/mask"], count=size * size).reshape(size, size).astype(bool)
        assert (mask.numpy() == published).all()

    def test_what_leaves_the_transformer_and_the_head_is_the_published(
        self, case: str, reference: Reference, network: Octo, inputs: Inputs, text: Tensor
    ) -> None:
        chosen, observation, task = set_up(case, network, inputs, text)
        outputs = chosen(observation, task)
        assert_allclose(outputs["task_language"][:, [0, 5]].numpy(), reference[f"{case}/task"], atol=2e-4)
        assert_allclose(outputs["obs_primary"][:, :, [0, 7]].numpy(), reference[f"{case}/primary"], atol=2e-4)
        assert_allclose(outputs["readout_action"].numpy(), reference[f"{case}/readout"], atol=2e-4)
        window = observation.timestep_mask.shape[1]
        time = torch.full((BATCH, window, 1), 7.0)
        noise = chosen.predict_noise(outputs, inputs.first[:, :window], time)
        assert_allclose(noise.numpy(), reference[f"{case}/noise"], atol=1e-4)


@pytest.mark.parametrize("case", ["A", "B", "E"])
def test_sampled_actions_are_the_published_ones_for_the_same_noise(
    case: str, reference: Reference, network: Octo, inputs: Inputs, text: Tensor
) -> None:
    chosen, observation, task = set_up(case, network, inputs, text)
    actions = chosen.sample(chosen(observation, task), inputs.first, inputs.later)
    assert_allclose(actions.numpy(), reference[f"{case}/actions"], atol=5e-3)
