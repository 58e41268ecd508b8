"""Several instructions behind one picture give what each would give alone."""

from __future__ import annotations

import pytest
import torch

from policies.networks.openvla import OpenVLA
from policies.openvla.config import read_config
from policies.openvla.packed import Suffixes, packed_forward, tower_features
from policies.openvla.sizes import OpenVLAMiniSizes, config_json
from policies.openvla.training import initialise

SIZES = OpenVLAMiniSizes(
    image_size=32, patch=8, tower_dim=16, tower_depth=3, tower_heads=2, dim=24, layers=4, heads=2, mlp=40
)


@pytest.fixture
def network() -> OpenVLA:
    torch.manual_seed(0)
    found = OpenVLA(read_config(config_json(SIZES)))
    initialise(found)
    return found


def test_the_towers_see_the_same_as_the_shipped_network(network: OpenVLA) -> None:
    pixels = torch.randn(3, 6, 32, 32)
    torch.testing.assert_close(tower_features(network, pixels), network.patch_features(pixels), atol=1e-5, rtol=0)


def test_each_instruction_gets_the_hidden_states_it_would_have_alone(network: OpenVLA) -> None:
    features = network.patch_features(torch.randn(2, 6, 32, 32))
    ids = torch.randint(3, 500, (2, 3, 9))
    answers = torch.tensor([2, 5, 8]).expand(2, 3, -1)
    packed = packed_forward(network, features, Suffixes(ids, answers), watch=1)
    for k in range(3):
        alone = torch.cat([torch.full((2, 1), network.config.bos_id), ids[:, k]], 1)
        hidden = network.hidden_states(network.embed_prompt(alone, network.project(features)))
        expected = hidden[:, 1 + network.config.patches :][:, [2, 5, 8]]
        torch.testing.assert_close(packed.hidden[:, k], expected, atol=1e-5, rtol=0)


def test_gradients_are_those_of_separate_passes(network: OpenVLA) -> None:
    features, ids = network.patch_features(torch.randn(1, 6, 32, 32)).detach(), torch.randint(3, 500, (1, 2, 5))
    answers = torch.tensor([4]).expand(1, 2, -1)
    weight = network.language_model.model.layers[0].get_submodule("self_attn.k_proj").weight
    packed_forward(network, features, Suffixes(ids, answers), watch=0).hidden.square().sum().backward()
    together = weight.grad.clone()
    weight.grad = None
    for k in range(2):
        alone = torch.cat([torch.tensor([[network.config.bos_id]]), ids[:, k]], 1)
        network.hidden_states(network.embed_prompt(alone, network.project(features)))[:, -1].square().sum().backward()
    torch.testing.assert_close(together, weight.grad, atol=1e-4, rtol=1e-4)


def test_the_watched_attention_is_a_share_of_one(network: OpenVLA) -> None:
    features, ids = network.patch_features(torch.randn(2, 6, 32, 32)), torch.randint(3, 500, (2, 2, 5))
    answers = torch.tensor([1, 4]).expand(2, 2, -1)
    share = packed_forward(network, features, Suffixes(ids, answers), watch=1).attention.exp().sum(-1)
    assert share.shape == (2, 2, SIZES.heads, 2)
    assert ((share > 0) & (share < 1)).all()
