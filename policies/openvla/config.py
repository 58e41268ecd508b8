"""Reading the sizes of an OpenVLA checkpoint from its config.json.

The published file names its vision backbone, and of the Llama it has only what differs from LlamaConfig's defaults.
This module adds the rest. Other sizes have keys of this project: `vision_towers` (a list of TowerConfig's fields),
`projector_widening`, `prompt`, `trailing_token_id`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from policies.base import BadCard
from policies.config_sizes import check_sizes
from policies.networks.openvla_sizes import LanguageConfig, OpenVLAConfig, TowerConfig

MODEL_TYPE = "openvla"
PROMPT = "In: What action should the robot take to {instruction}?\nOut:"
VICUNA_PROMPT = (
    "A chat between a curious user and an artificial intelligence assistant. "
    "The assistant gives helpful, detailed, and polite answers to the user's questions. "
    "USER: What action should the robot take to {instruction}? ASSISTANT:"
)
TRAILING_ID = 29871  # the Llama-2 tokenizer's lone space

DINO = TowerConfig(
    image_size=224, patch=14, dim=1024, depth=24, heads=16, mlp=4096,
    class_token=True, registers=4, layer_scale=True, attention_pool=False,
)  # fmt: skip
SIGLIP = TowerConfig(
    image_size=224, patch=14, dim=1152, depth=27, heads=16, mlp=4304,
    class_token=False, registers=0, layer_scale=False, attention_pool=True,
)  # fmt: skip
BACKBONES = {
    "dinosiglip-vit-so-224px": (DINO, SIGLIP),
    "dinosiglip-vit-so-384px": (replace(DINO, image_size=384), replace(SIGLIP, image_size=384)),
    "siglip-vit-so400m": (SIGLIP,),
}
# LlamaConfig's defaults. Its norm epsilon differs from that of Llama 2's files, and is the one of the checkpoint.
LLAMA_DEFAULTS: dict[str, Any] = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": None,
    "max_position_embeddings": 2048,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "bos_token_id": 1,
}
# Any other value means an unsupported architecture.
LLAMA_FIXED: dict[str, Any] = {
    "model_type": "llama",
    "hidden_act": "silu",
    "rope_scaling": None,
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
}


def read_config(data: Mapping[str, Any]) -> OpenVLAConfig:
    """Raises BadCard naming the field that is missing or unsupported."""
    if data.get("model_type") != MODEL_TYPE:
        raise BadCard(f"config.json: unknown architecture {data.get('model_type')!r}; known here: {MODEL_TYPE}")
    try:
        text = data.get("text_config") or {}
        # The first OpenVLA was built on Vicuna, and is prompted in its chat form.
        vicuna = str(data.get("llm_backbone_id", "")).startswith("vicuna")
        config = OpenVLAConfig(
            towers=_towers(data),
            language=_language(text),
            vocabulary_padding=int(data.get("pad_to_multiple_of", 64)),
            action_bins=int(data.get("n_action_bins", 256)),
            bos_id=int(text.get("bos_token_id", LLAMA_DEFAULTS["bos_token_id"])),
            trailing_id=data.get("trailing_token_id", TRAILING_ID),
            prompt=data.get("prompt") or (VICUNA_PROMPT if vicuna else PROMPT),
            max_tokens=int(data.get("llm_max_length", LLAMA_DEFAULTS["max_position_embeddings"])),
            projector_widening=int(data.get("projector_widening", 4)),
        )
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise BadCard(f"config.json: {error}") from None
    check_sizes(config, "config.json")
    _check(config)
    return config


def _towers(data: Mapping[str, Any]) -> tuple[TowerConfig, ...]:
    """Explicit sizes, or those of the published backbone for the image sizes of the file."""
    for activation in data.get("timm_override_act_layers") or []:
        if activation is not None:
            raise BadCard(f"config.json: activation {activation!r} of a vision tower is not supported")
    if "vision_towers" in data:
        return tuple(_tower(entry) for entry in data["vision_towers"])
    backbone = data.get("vision_backbone_id")
    if backbone not in BACKBONES:
        raise BadCard(f"config.json: unknown vision_backbone_id {backbone!r}; known: {', '.join(BACKBONES)}")
    towers = BACKBONES[backbone]
    sizes = data.get("image_sizes") or [tower.image_size for tower in towers]
    return tuple(replace(tower, image_size=int(size)) for tower, size in zip(towers, sizes, strict=True))


def _tower(entry: Mapping[str, Any]) -> TowerConfig:
    if unknown := set(entry) - {field.name for field in fields(TowerConfig)}:
        raise BadCard(f"config.json: vision_towers has unknown sizes {', '.join(sorted(unknown))}")
    return TowerConfig(**entry)


def _language(text: Mapping[str, Any]) -> LanguageConfig:
    for key, wanted in LLAMA_FIXED.items():
        if text.get(key, wanted) != wanted:
            raise BadCard(f"config.json: text_config.{key} is {text[key]!r}; only {wanted!r} is supported")
    size = {key: text.get(key, default) for key, default in LLAMA_DEFAULTS.items()}
    return LanguageConfig(
        vocabulary=int(size["vocab_size"]),
        dim=int(size["hidden_size"]),
        mlp=int(size["intermediate_size"]),
        layers=int(size["num_hidden_layers"]),
        heads=int(size["num_attention_heads"]),
        kv_heads=int(size["num_key_value_heads"] or size["num_attention_heads"]),
        rope_theta=float(size["rope_theta"]),
        rms_eps=float(size["rms_norm_eps"]),
        max_positions=int(size["max_position_embeddings"]),
    )


def _check(config: OpenVLAConfig) -> None:
    language = config.language
    if not 1 <= len(config.towers) <= 2:
        raise BadCard(f"config.json: {len(config.towers)} vision towers; one or two are supported")
    if not all(0 < tower.patch <= tower.image_size for tower in config.towers):
        raise BadCard("config.json: a patch of a vision tower does not fit into its picture")
    if len({tower.patches for tower in config.towers}) > 1:
        raise BadCard("config.json: the vision towers give different numbers of patches")
    for dim, heads, name in [(t.dim, t.heads, "a vision tower") for t in config.towers] + [
        (language.dim, language.heads, "the language model"),
        (language.heads, language.kv_heads, "the key-value heads"),
    ]:
        if not heads or dim % heads:
            raise BadCard(f"config.json: {name}: {dim} is not a multiple of {heads}")
    if config.action_bins > config.base_vocabulary:
        raise BadCard(f"config.json: {config.action_bins} action bins need as many ids; the vocabulary is smaller")
    if "{instruction}" not in config.prompt:
        raise BadCard("config.json: the prompt has no {instruction}")
