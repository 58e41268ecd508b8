"""The config.json of this project's small Octo, in the published layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from policies.networks.octo_sizes import OctoConfig
from policies.octo.config import read_config
from policies.octo.shapes import InputShapes

CAMERA, IMAGE_KEY = "primary", "image_primary"
TEXT, READOUT = "language", "action"
PAD_ID, END_ID = 0, 1
MODULES = {  # where the published code keeps each part
    "tokenizers": "model.components.tokenizers",
    "vit_encoders": "model.components.vit_encoders",
    "action_heads": "model.components.action_heads",
    "text_processing": "data.utils.text_processing",
}


@dataclass(frozen=True)
class OctoMiniSizes:
    """Sizes of stem, transformer, text encoder and head. Stem widths are multiples of the 32 groups of its norms.

    The first convolution cuts the picture into patches of 4 pixels: at full size, its norms would cost the most.
    """

    image_size: int = 128
    kernels: tuple[int, ...] = (4, 3, 3)
    strides: tuple[int, ...] = (4, 2, 2)
    padding: tuple[int, ...] = (0, 1, 1)
    features: tuple[int, ...] = (32, 64, 128)
    dim: int = 128
    layers: int = 4
    heads: int = 4
    mlp: int = 256
    vocabulary: int = 512
    text_tokens: int = 20
    text_dim: int = 128
    text_layers: int = 2
    text_heads: int = 4
    text_mlp: int = 256
    head_hidden: int = 256
    diffusion_steps: int = 20
    chunk: int = 4


def config_json(sizes: OctoMiniSizes) -> dict[str, Any]:
    """The content of config.json, with one frame, no goal picture and no repeated text."""
    return {
        "image_sizes": {IMAGE_KEY: [sizes.image_size, sizes.image_size]},
        "window_size": 1,
        "model": {
            "observation_tokenizers": {CAMERA: _part("tokenizers", "ImageTokenizer", **_camera(sizes))},
            "task_tokenizers": {TEXT: _part("tokenizers", "LanguageTokenizer", **_text(sizes))},
            "heads": {"action": _part("action_heads", "DiffusionActionHead", **_head(sizes))},
            "readouts": {READOUT: 1},
            "token_embedding_size": sizes.dim,
            "transformer_kwargs": {
                "add_position_embedding": False,
                "num_layers": sizes.layers,
                "num_attention_heads": sizes.heads,
                "mlp_dim": sizes.mlp,
            },
            "max_horizon": 1,
            "repeat_task_tokens": False,
            "use_correct_attention": True,
        },
        "text_processor": _part(
            "text_processing",
            "HFTokenizer",
            encode_with_model=False,
            tokenizer_kwargs={"max_length": sizes.text_tokens, "padding": "max_length"},
        ),
    }


def octo_config(sizes: OctoMiniSizes) -> OctoConfig:
    """The configuration, by the reader of published folders."""
    shapes = InputShapes({IMAGE_KEY: (sizes.image_size, sizes.image_size)}, window=1)
    return read_config(config_json(sizes), shapes)


def _camera(sizes: OctoMiniSizes) -> dict[str, Any]:
    stem = _part(
        "vit_encoders",
        "SmallStem16",
        kernel_sizes=list(sizes.kernels),
        strides=list(sizes.strides),
        padding=list(sizes.padding),
        features=list(sizes.features),
        num_features=sizes.dim,
    )
    return {"encoder": stem, "obs_stack_keys": [IMAGE_KEY], "task_stack_keys": []}


def _text(sizes: OctoMiniSizes) -> dict[str, Any]:
    return {
        "encoder": "own",
        "finetune_encoder": True,
        "encoder_config": {
            "vocab_size": sizes.vocabulary,
            "d_model": sizes.text_dim,
            "d_kv": sizes.text_dim // sizes.text_heads,
            "d_ff": sizes.text_mlp,
            "num_layers": sizes.text_layers,
            "num_heads": sizes.text_heads,
            "feed_forward_proj": "relu",
            "pad_token_id": PAD_ID,
            "eos_token_id": END_ID,
        },
    }


def _head(sizes: OctoMiniSizes) -> dict[str, Any]:
    return {
        "readout_key": f"readout_{READOUT}",
        "use_map": False,
        "action_dim": 7,
        "action_horizon": sizes.chunk,
        "hidden_dim": sizes.head_hidden,
        "diffusion_steps": sizes.diffusion_steps,
    }


def _part(module: str, name: str, **kwargs: Any) -> dict[str, Any]:
    return {"module": f"octo.{MODULES[module]}", "name": name, "args": [], "kwargs": kwargs}
