"""Tiny OpenVLA and Octo checkpoints, laid out as published ones are, with weights made from the tensors' names."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor, nn

from policies import checkpoints
from policies.networks.octo import Octo
from policies.networks.openvla import OpenVLA
from policies.octo.config import read_config as read_octo_config
from policies.octo.shapes import InputShapes
from policies.openvla.config import read_config as read_openvla_config

DATA = Path(__file__).parent / "data"
Array = NDArray[Any]


def reference_weight(name: str, shape: Sequence[int]) -> Array:
    """Seeded by the name, scaled so that every part of a network matters. The reference outputs were made with them."""
    random = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(tuple(shape))
    return (_around_one(name) + _scale(name, shape) * random).astype(np.float32)


def _around_one(name: str) -> float:
    factor = name.endswith(("scale_factor", "scale")) or ("norm" in name and name.endswith("weight"))
    return 1.0 if factor else 0.0


def _scale(name: str, shape: Sequence[int]) -> float:
    if _around_one(name) or name.endswith("bias"):
        return 0.1
    if name.endswith("embed_tokens.weight"):
        return 3.0
    if name.endswith(("embedding", "embed", "token", "latent")):
        return 0.5
    if name.endswith("time_preprocess.kernel"):
        return 1.0
    if name.endswith("kernel"):
        split = any(part in name for part in ("query", "key", "value"))
        return float((shape[0] if split else math.prod(shape[:-1])) ** -0.5)
    return float(math.prod(shape[1:]) ** -0.5)


def fill(network: nn.Module) -> None:
    """Reference weights, without a detour over files."""
    named = {name: torch.from_numpy(reference_weight(name, t.shape)) for name, t in network.state_dict().items()}
    network.load_state_dict(named, assign=True)
    network.requires_grad_(False).eval()


# ---- OpenVLA -------------------------------------------------------------------------------------------------------

SIDE = 28
WORDS = ["in", "out", "action", "the", "robot", "take", "to", "pick", "up", "red", "cube", "?", ":", "\n", " "]
BOS, SPACE = 1, 3 + WORDS.index(" ")
BRIDGE: dict[str, Any] = {
    "q01": [-0.1, -0.2, -0.3, -0.4, -0.5, -0.6, 0.0],
    "q99": [0.1, 0.25, 0.3, 0.4, 0.5, 0.6, 1.0],
    "min": [-9.0] * 7,
    "max": [9.0] * 7,
    "mean": [0.01] * 7,
    "std": [0.2] * 7,
    "mask": [True] * 6 + [False],
}


def openvla_json(**changes: Any) -> dict[str, Any]:
    """The sizes of the reference: base vocabulary 320, 16 rows of padding, 16 patches."""
    dino = {"image_size": SIDE, "patch": 7, "dim": 24, "depth": 4, "heads": 3, "mlp": 96}
    siglip = {"image_size": SIDE, "patch": 7, "dim": 32, "depth": 3, "heads": 4, "mlp": 80}
    text = {"vocab_size": 336, "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3}
    return {
        "model_type": "openvla",
        "vision_towers": [
            {**dino, "class_token": True, "registers": 4, "layer_scale": True, "attention_pool": False},
            {**siglip, "class_token": False, "registers": 0, "layer_scale": False, "attention_pool": True},
        ],
        "text_config": {"model_type": "llama", **text, "num_attention_heads": 4, "pad_token_id": 320},
        "n_action_bins": 256,
        "pad_to_multiple_of": 16,
        "trailing_token_id": SPACE,
        "norm_stats": {"bridge_orig": {"action": BRIDGE}},
        **changes,
    }


def tiny_openvla(**changes: Any) -> OpenVLA:
    network = checkpoints.build(lambda: OpenVLA(read_openvla_config(openvla_json(**changes))))
    fill(network)
    return network


def preprocessor_json(**changes: Any) -> dict[str, Any]:
    """As published: the steps' constants are bfloat16, the plain ones ImageNet's."""
    dino_mean, dino_std = [0.484375, 0.455078125, 0.40625], [0.228515625, 0.2236328125, 0.224609375]
    return {
        "image_resize_strategy": "resize-naive",
        "input_sizes": [[3, SIDE, SIDE]] * 2,
        "interpolations": ["bicubic", "bicubic"],
        "means": [[0.485, 0.456, 0.406], [0.5, 0.5, 0.5]],
        "stds": [[0.229, 0.224, 0.225], [0.5, 0.5, 0.5]],
        "tvf_resize_params": [{"size": [SIDE, SIDE], "interpolation": 3, "max_size": None, "antialias": True}] * 2,
        "tvf_crop_params": [{"output_size": [SIDE, SIDE]}] * 2,
        "tvf_normalize_params": [{"mean": dino_mean, "std": dino_std}, {"mean": [0.5] * 3, "std": [0.5] * 3}],
        **changes,
    }


def word_tokenizer(bos: bool = True) -> Tokenizer:
    """Every word and every space is a token; unknown words are 0. A BOS comes first, as in the Llama's file."""
    vocabulary = {"<unk>": 0, "<s>": BOS, "</s>": 2} | {word: 3 + index for index, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    spaces = pre_tokenizers.Split(" ", "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([spaces, pre_tokenizers.Split("\n", "isolated"), _marks()])
    if bos:
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", BOS)])
    return tokenizer


def _marks() -> Any:
    return pre_tokenizers.Punctuation("isolated")


def write_openvla(folder: Path, shards: int = 2, dtype: torch.dtype = torch.bfloat16, **changes: Any) -> Path:
    """A folder as published: shards with an index, statistics within config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", openvla_json(**changes))
    write_json(folder / "preprocessor_config.json", preprocessor_json())
    word_tokenizer().save(str(folder / "tokenizer.json"))
    tensors = {name: tensor.to(dtype) for name, tensor in tiny_openvla(**changes).state_dict().items()}
    if shards == 1:
        save_file(tensors, folder / "model.safetensors")
        return folder
    places = {}
    for number in range(shards):
        shard = f"model-{number + 1:05d}-of-{shards:05d}.safetensors"
        part = dict(list(tensors.items())[number::shards])
        save_file(part, folder / shard)
        places |= dict.fromkeys(part, shard)
    write_json(folder / "model.safetensors.index.json", {"metadata": {"total_size": 0}, "weight_map": places})
    return folder


# ---- Octo ----------------------------------------------------------------------------------------------------------

IMAGES = {"image_primary": (48, 64), "image_wrist": (32, 32)}
TEXT_LENGTH = 6
T5 = {"vocab_size": 64, "d_model": 24, "d_kv": 6, "d_ff": 40, "num_layers": 3, "num_heads": 4,
      "relative_attention_num_buckets": 8, "relative_attention_max_distance": 20}  # fmt: skip


def octo_json(**changes: Any) -> dict[str, Any]:
    """The sizes of the reference; `changes` are to the model."""
    encoder = _spec("SmallStem16", features=[32, 64, 32, 64], num_features=48)
    cameras = {
        name: _spec("ImageTokenizer", obs_stack_keys=[key], task_stack_keys=[key], encoder=encoder)
        for name, key in (("primary", "image_primary"), ("wrist", "image_wrist"))
    }
    head = _spec(
        "DiffusionActionHead", readout_key="readout_action", use_map=False, action_horizon=3, action_dim=7,
        hidden_dim=32, time_dim=8, num_blocks=2, diffusion_steps=20, n_diffusion_samples=1, dropout_rate=0.0,
    )  # fmt: skip
    model = {
        "observation_tokenizers": cameras,
        "task_tokenizers": {"language": _spec("LanguageTokenizer", encoder="t5-tiny", encoder_config=T5)},
        "heads": {"action": head},
        "readouts": {"action": 2},
        "transformer_kwargs": {"num_layers": 3, "mlp_dim": 64, "num_attention_heads": 4, "dropout_rate": 0.0},
        "token_embedding_size": 32,
        "max_horizon": 5,
        "repeat_task_tokens": True,
        "use_correct_attention": True,
    }
    text = _spec("HFTokenizer", tokenizer_name="t5-base", tokenizer_kwargs={"max_length": TEXT_LENGTH})
    return {"model": model | changes, "text_processor": text, "window_size": 2}


def published_octo_json(dim: int, heads: int, mlp: int) -> dict[str, Any]:
    """config.json of base-1.5 (768, 12, 3072) or small-1.5 (384, 6, 1536), as far as it matters."""
    data = octo_json(token_embedding_size=dim, max_horizon=10, readouts={"action": 1})
    model = data["model"]
    model["transformer_kwargs"] |= {"num_layers": 12, "mlp_dim": mlp, "num_attention_heads": heads}
    model["task_tokenizers"]["language"]["kwargs"] = {"encoder": "t5-base", "finetune_encoder": False}
    for camera in model["observation_tokenizers"].values():
        camera["kwargs"]["encoder"] = _spec("SmallStem16")
    head = {"readout_key": "readout_action", "use_map": False, "action_horizon": 4, "action_dim": 7}
    model["heads"]["action"]["kwargs"] = head | {"n_diffusion_samples": 1, "dropout_rate": 0.0}
    data["text_processor"]["kwargs"]["tokenizer_kwargs"] = {"max_length": 16, "padding": "max_length"}
    return data


def _spec(name: str, **kwargs: Any) -> dict[str, Any]:
    return {"module": "octo.published", "name": name, "args": [], "kwargs": kwargs}


def tiny_octo(**changes: Any) -> Octo:
    config = read_octo_config(octo_json(**changes), InputShapes(IMAGES, 2))
    network = checkpoints.build(lambda: Octo(config))
    fill(network)
    return network


def pack_array(values: Array | Tensor) -> msgpack.ExtType:
    """An array as flax writes it."""
    name = str(values.dtype).removeprefix("torch.")
    raw = values.contiguous().view(torch.uint8).numpy() if isinstance(values, Tensor) else values
    return msgpack.ExtType(1, msgpack.packb((tuple(values.shape), name, raw.tobytes())))


def pack_tree(tensors: Mapping[str, Any]) -> bytes:
    """Dotted names as nested maps."""
    tree: dict[str, Any] = {}
    for name, value in tensors.items():
        *parents, leaf = name.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = pack_array(value) if isinstance(value, np.ndarray | Tensor) else value
    return msgpack.packb(tree)  # type: ignore[no-any-return]


def text_tokenizer() -> Tokenizer:
    """Words for T5: 0 pads, 1 ends every text."""
    vocabulary = {"<pad>": 0, "</s>": 1, "<unk>": 2, "pick": 3, "up": 4, "the": 5, "red": 6, "cube": 7}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return tokenizer


def write_octo(folder: Path, step: int | None = 300, **changes: Any) -> Path:
    """A folder as published, plus the tokenizer that the user must bring. Without `step`, `checkpoint` lies beside."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", octo_json(**changes))
    write_json(folder / "dataset_statistics.json", {"bridge_dataset": {"action": BRIDGE}})
    observation = {key: np.zeros((2, 2, *size, 3), np.uint8) for key, size in IMAGES.items()}
    observation["timestep_pad_mask"] = np.ones((2, 2), bool)
    packed = {key: pack_array(value) for key, value in observation.items()}
    (folder / "example_batch.msgpack").write_bytes(msgpack.packb({"observation": packed, "task": {}}))
    text_tokenizer().save(str(folder / "tokenizer.json"))
    place = folder if step is None else folder / str(step) / "default"
    place.mkdir(parents=True, exist_ok=True)
    (place / "checkpoint").write_bytes(pack_tree(tiny_octo(**changes).state_dict()))
    return folder


def write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data), "utf-8")
