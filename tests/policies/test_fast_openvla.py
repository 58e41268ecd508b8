"""OpenVLA's fast path answers the very tokens of the plain one, alone and in a batch, at every shape of the network."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from policies.networks.openvla import OpenVLA
from policies.networks.openvla_fast import FastOpenVLA
from tests.policies.tiny_networks import SIDE, openvla_json, tiny_openvla

PROMPTS = [[1, 5, 200, 17, 44, 300], [1, 8, 120], [1, 90, 31, 7]]


def pictures(count: int, channels: int = 6, seed: int = 0) -> Tensor:
    return torch.randn(count, channels, SIDE, SIDE, generator=torch.Generator().manual_seed(seed))


def plain(network: OpenVLA, prompts: list[list[int]], pixels: Tensor) -> list[list[int]]:
    rows = [
        network.generate(torch.tensor([prompt]), torch.tensor([len(prompt)]), pixels[index : index + 1], 7)[0].tolist()
        for index, prompt in enumerate(prompts)
    ]
    return [list(row) for row in rows]


def shared_heads() -> dict[str, Any]:
    text = {"vocab_size": 336, "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3}
    return {"text_config": {"model_type": "llama", **text, "num_attention_heads": 4, "num_key_value_heads": 2}}


def one_layer() -> dict[str, Any]:
    text = {"vocab_size": 336, "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 1}
    return {"text_config": {"model_type": "llama", **text, "num_attention_heads": 4}}


@pytest.mark.parametrize(
    "changes", [{}, shared_heads(), one_layer()], ids=["as published", "shared heads", "one layer"]
)
@pytest.mark.parametrize("seed", range(4))
def test_tokens_are_those_of_the_plain_way(changes: dict[str, Any], seed: int) -> None:
    network, pixels = tiny_openvla(**changes), pictures(3, seed=seed)
    expected = plain(network, PROMPTS, pixels)
    fast = FastOpenVLA(network)
    alone = [fast.generate([p], pixels[i : i + 1], 7)[0].tolist() for i, p in enumerate(PROMPTS)]
    assert alone == expected
    assert fast.generate(PROMPTS, pixels, 7).tolist() == expected


def test_one_tower_will_do() -> None:
    network = tiny_openvla(vision_towers=openvla_json()["vision_towers"][1:])
    pixels = pictures(2, channels=3)
    expected = plain(network, PROMPTS[:2], pixels)
    assert FastOpenVLA(network).generate(PROMPTS[:2], pixels, 7).tolist() == expected


def test_a_single_token_can_be_asked_for() -> None:
    network, pixels = tiny_openvla(), pictures(1)
    expected = plain(network, PROMPTS[:1], pixels)[0][:1]
    assert FastOpenVLA(network).generate(PROMPTS[:1], pixels, 1).tolist() == [expected]


def test_nothing_of_a_call_reaches_the_next() -> None:
    fast, pixels = FastOpenVLA(tiny_openvla()), pictures(2)
    before = fast.generate(PROMPTS[:1], pixels[:1], 7).tolist()
    fast.generate(PROMPTS[1:2], pixels[1:], 7)
    fast.generate(PROMPTS, pictures(3, seed=9), 7)
    assert fast.generate(PROMPTS[:1], pixels[:1], 7).tolist() == before


def test_joined_weights_are_held_once_under_their_own_names() -> None:
    network = tiny_openvla()
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    fast = FastOpenVLA(network)
    after = network.state_dict()
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert after.keys() == before.keys()
    joint = fast.layers[1].qkv.untyped_storage().data_ptr()
    for part in ("q_proj", "k_proj", "v_proj"):
        own = network.get_parameter(f"language_model.model.layers.1.self_attn.{part}.weight")
        assert own.untyped_storage().data_ptr() == joint


def test_a_network_in_training_keeps_its_own_tensors() -> None:
    network = tiny_openvla().requires_grad_(True)
    before = {name: id(parameter) for name, parameter in network.named_parameters()}
    FastOpenVLA(network)
    assert {name: id(parameter) for name, parameter in network.named_parameters()} == before


@pytest.mark.parametrize("padded", [False, True])
def test_the_work_of_an_action_asks_the_device_for_no_number(padded: bool) -> None:
    """What a CUDA graph needs. Tensors without values stand in for a device: a question for a number would raise."""
    with FakeTensorMode(allow_non_fake_inputs=True), torch.inference_mode():
        fast = FastOpenVLA(tiny_openvla())
        ids, ends = torch.zeros(2, 16, dtype=torch.long), torch.zeros(2, dtype=torch.long)
        (tokens,) = fast._generate(7, padded, ids, ends, torch.zeros(2, 6, SIDE, SIDE))
    assert tokens.shape == (2, 7)


def test_bfloat16_runs_near_to_the_plain_way() -> None:
    network = tiny_openvla().to(torch.bfloat16)
    pixels = pictures(1).bfloat16()
    fast = FastOpenVLA(network)
    assert (network.patch_features(pixels) - fast._look(pixels)).float().abs().mean() < 0.02
    assert fast.generate(PROMPTS[:1], pixels, 7).shape == (1, 7)
