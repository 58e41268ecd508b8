"""OpenVLA does what the published code does: its outputs at a tiny size are stored, stage by stage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from policies.networks.openvla import OpenVLA
from policies.openvla.actions import ActionTokens, QuantileScale
from policies.openvla.images import read_transform
from tests.policies.tiny_networks import BRIDGE, DATA, SIDE, preprocessor_json, tiny_openvla

PROMPTS = (
    [1, 5, 200, 17, 44, 300, 9, 2, 77, 311],
    [1, 8, 8, 120, 4],
    [1, 90, 31, 7, 7, 250, 12, 60, 33, 3, 41, 199, 6],
)
PICTURE = np.random.default_rng(3).integers(0, 256, (37, 61, 3), dtype=np.uint8)
SMALL_PICTURE = np.random.default_rng(4).integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)

Reference = dict[str, NDArray[Any]]


@pytest.fixture(scope="module")
def reference() -> Reference:
    return dict(np.load(DATA / "openvla_reference.npz"))


@pytest.fixture(scope="module")
def network() -> OpenVLA:
    return tiny_openvla()


def pixels(index: int) -> torch.Tensor:
    return torch.from_numpy(read_transform(preprocessor_json())(SMALL_PICTURE if index == 1 else PICTURE))[None]


def test_pixel_values_are_those_of_the_published_preprocessing(reference: Reference) -> None:
    assert_allclose(pixels(0)[0].numpy(), reference["pixels/resize-naive"], atol=1e-5)


def test_a_picture_cut_or_boxed_to_a_square_has_the_published_pixel_values(reference: Reference) -> None:
    steps = [{"size": SIDE, "interpolation": 3, "max_size": None, "antialias": True}] * 2
    for strategy in ("resize-crop", "letterbox"):
        changes = {"image_resize_strategy": strategy, "tvf_resize_params": steps}
        found = read_transform(preprocessor_json(**changes))(PICTURE)[[0, 5]]
        assert_allclose(found, reference[f"pixels/{strategy}"], atol=1e-5)


def test_tower_features_and_projections_are_the_published_ones(reference: Reference, network: OpenVLA) -> None:
    features = network.patch_features(pixels(0))
    assert_allclose(features[0].numpy(), reference["features"], atol=1e-5)
    assert_allclose(network.project(features)[0].numpy(), reference["projected"], atol=1e-5)


@pytest.mark.parametrize("index", range(3))
def test_hidden_states_logits_and_greedy_tokens_are_the_published_ones(
    reference: Reference, network: OpenVLA, index: int
) -> None:
    ids, picture = torch.tensor([PROMPTS[index]]), pixels(index)
    hidden = network.hidden_states(network.embed_prompt(ids, network.project(network.patch_features(picture))))
    assert_allclose(hidden[0, [0, 5, -1]].numpy(), reference[f"hidden{index}"], atol=2e-5)
    assert_allclose(network.logits(hidden)[0, -1].numpy(), reference[f"logits{index}"], atol=2e-5)
    tokens = network.generate(ids, torch.tensor([ids.shape[1]]), picture, 7)
    assert tokens[0].tolist() == reference[f"tokens{index}"].tolist()


def test_decoding_agrees_for_every_id_to_the_bit(reference: Reference, network: OpenVLA) -> None:
    decoded = ActionTokens(network.config).decode(np.arange(network.config.language.vocabulary))
    assert (decoded == reference["decode"]).all()


def test_un_normalised_actions_agree_to_the_bit(reference: Reference, network: OpenVLA) -> None:
    ids = np.array([65, 120, 200, 250, 310, 319, 100])
    actions = QuantileScale.from_statistics(BRIDGE).unnormalise(ActionTokens(network.config).decode(ids))
    assert (actions == reference["unnormalised"]).all()
