"""OpenVLA's configuration gives exactly the published checkpoint's tensors, and defaults where the file is silent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from policies import checkpoints
from policies.base import BadCard
from policies.networks.openvla import OpenVLA
from policies.openvla.config import PROMPT, read_config
from tests.policies.tiny_networks import DATA, openvla_json

PUBLISHED: dict[str, Any] = {
    "model_type": "openvla",
    "vision_backbone_id": "dinosiglip-vit-so-224px",
    "llm_backbone_id": "llama2-7b-pure",
    "image_sizes": [224, 224],
    "timm_override_act_layers": [None, None],
    "text_config": {"model_type": "llama", "vocab_size": 32064, "pad_token_id": 32000, "torch_dtype": "bfloat16"},
    "n_action_bins": 256,
    "pad_to_multiple_of": 64,
}


def test_names_and_shapes_are_exactly_those_of_openvla_7b() -> None:
    network = checkpoints.build(lambda: OpenVLA(read_config(PUBLISHED)))
    shapes = {name: list(tensor.shape) for name, tensor in network.state_dict().items()}
    published = json.loads((DATA / "openvla-7b.json").read_text("utf-8"))
    assert len(shapes) == 982
    assert shapes == published


def test_sizes_that_the_file_leaves_out_are_the_defaults_of_llama_config_not_of_llama_2() -> None:
    config = read_config(PUBLISHED)
    assert config.language.rms_eps == 1e-6
    assert config.language.rope_theta == 10000.0
    assert (config.language.dim, config.language.layers, config.language.kv_heads) == (4096, 32, 32)


def test_action_ids_end_where_the_vocabulary_without_its_padding_ends() -> None:
    assert read_config(PUBLISHED).base_vocabulary == 32000


def test_constants_of_the_text_come_from_the_configuration() -> None:
    config = read_config(PUBLISHED)
    assert (config.bos_id, config.trailing_id, config.prompt) == (1, 29871, PROMPT)
    assert read_config(PUBLISHED | {"trailing_token_id": None}).trailing_id is None


def test_the_first_model_on_vicuna_asks_in_its_chat_form() -> None:
    assert "USER: What action" in read_config(PUBLISHED | {"llm_backbone_id": "vicuna-v15-7b"}).prompt


def test_one_tower_makes_a_projector_of_two_layers() -> None:
    config = read_config(PUBLISHED | {"vision_backbone_id": "siglip-vit-so400m", "image_sizes": [224]})
    names = checkpoints.build(lambda: OpenVLA(config)).state_dict()
    assert "projector.fc2.weight" in names
    assert not any(part in name for name in names for part in ("fc3", "fused_featurizer"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": "llava"}, "unknown architecture 'llava'; known here: openvla"),
        ({"vision_backbone_id": "clip-vit-b"}, "unknown vision_backbone_id 'clip-vit-b'; known: dinosiglip"),
        ({"timm_override_act_layers": [None, "quick_gelu"]}, "quick_gelu"),
        ({"text_config": {"model_type": "mistral"}}, "text_config.model_type is 'mistral'"),
        ({"text_config": {"hidden_act": "gelu"}}, "hidden_act"),
        ({"text_config": {"rope_scaling": {"type": "linear"}}}, "rope_scaling"),
        ({"text_config": {"hidden_size": 4097}}, "4097 is not a multiple of 32"),
        ({"text_config": {"vocab_size": 200}}, "256 action bins"),
        ({"image_sizes": [224, 196]}, "different numbers of patches"),
        ({"prompt": "go"}, "instruction"),
    ],
)
def test_a_configuration_of_something_else_is_refused_by_field(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadCard, match=words):
        read_config(PUBLISHED | changes)


def test_an_unknown_size_of_a_tower_is_named() -> None:
    data = openvla_json()
    data["vision_towers"][0]["hats"] = 3
    with pytest.raises(BadCard, match="hats"):
        read_config(data)
