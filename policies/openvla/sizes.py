"""The JSON files of this project's small OpenVLA, in the published layout."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from policies.networks.openvla_sizes import TowerConfig
from policies.openvla.config import MODEL_TYPE, PROMPT
from policies.openvla.tokenizer import BOS_ID, VOCABULARY

PADDING = 64
HALF = (0.5, 0.5, 0.5)
BICUBIC = 3  # PIL's number; pictures come at the towers' size, so nothing is resized


@dataclass(frozen=True)
class OpenVLAMiniSizes:
    """Towers of equal size, then the language model. A tower's last block is stored but not run, as published."""

    image_size: int = 128
    patch: int = 16
    tower_dim: int = 128
    tower_depth: int = 4
    tower_heads: int = 4
    towers: int = 2
    widening: int = 2
    dim: int = 128
    layers: int = 5
    heads: int = 4
    mlp: int = 352


def config_json(sizes: OpenVLAMiniSizes) -> dict[str, Any]:
    """The content of config.json, which `policies.openvla.config` reads."""
    return {
        "model_type": MODEL_TYPE,
        "architectures": ["OpenVLAForActionPrediction"],
        "image_resize_strategy": "resize-naive",
        "image_sizes": [sizes.image_size] * sizes.towers,
        "vision_towers": [asdict(tower) for tower in _towers(sizes)],
        "projector_widening": sizes.widening,
        "n_action_bins": 256,
        "pad_to_multiple_of": PADDING,
        "llm_max_length": 256,
        "prompt": PROMPT,
        "trailing_token_id": None,
        "text_config": {
            "model_type": "llama",
            "vocab_size": VOCABULARY + PADDING,
            "hidden_size": sizes.dim,
            "intermediate_size": sizes.mlp,
            "num_hidden_layers": sizes.layers,
            "num_attention_heads": sizes.heads,
            "num_key_value_heads": sizes.heads,
            "max_position_embeddings": 256,
            "bos_token_id": BOS_ID,
        },
    }


def _towers(sizes: OpenVLAMiniSizes) -> list[TowerConfig]:
    """One like DINOv2 with class token and registers, one like SigLIP; without layer scale and unused pooling head."""
    plain = TowerConfig(
        image_size=sizes.image_size,
        patch=sizes.patch,
        dim=sizes.tower_dim,
        depth=sizes.tower_depth,
        heads=sizes.tower_heads,
        mlp=4 * sizes.tower_dim,
        class_token=False,
        registers=0,
        layer_scale=False,
        attention_pool=False,
    )
    return [replace(plain, class_token=True, registers=3), plain][-sizes.towers :]


def preprocessor_json(sizes: OpenVLAMiniSizes) -> dict[str, Any]:
    """The content of preprocessor_config.json: both towers see pictures in -1..1."""
    size = [sizes.image_size, sizes.image_size]
    return {
        "image_resize_strategy": "resize-naive",
        "input_sizes": [[3, *size]] * sizes.towers,
        "interpolations": ["bicubic"] * sizes.towers,
        "means": [list(HALF)] * sizes.towers,
        "stds": [list(HALF)] * sizes.towers,
        "tvf_resize_params": [{"size": size, "interpolation": BICUBIC}] * sizes.towers,
        "tvf_crop_params": [{"output_size": size}] * sizes.towers,
        "tvf_normalize_params": [{"mean": list(HALF), "std": list(HALF)}] * sizes.towers,
    }
