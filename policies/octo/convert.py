"""Rewriting Octo's flax checkpoint as safetensors and JSON. Names stay paths joined with dots, and numbers the same."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from policies import checkpoints, flax_checkpoint
from policies.base import CheckpointError
from policies.folder import CONFIG, STATISTICS, TOKENIZER, WEIGHTS, read_json, write_json, write_sums
from policies.networks.octo import Octo
from policies.octo.config import read_config
from policies.octo.shapes import read_shapes


def convert(source: Path, target: Path) -> dict[str, Any]:
    """Write `target`, a new or empty folder, after all checks of loading. Raises PolicyError.

    The tokenizer is copied if the source has one: Octo's authors do not publish it with the weights.
    """
    if target.exists() and any(target.iterdir()):
        raise CheckpointError(f"{target}: not empty; name a new folder")
    data = read_json(source, CONFIG)
    shapes = read_shapes(source, data)
    statistics = read_json(source, STATISTICS)
    config = read_config(data, shapes)
    network = checkpoints.build(lambda: Octo(config))
    stored = flax_checkpoint.read_header(flax_checkpoint.find_checkpoint(source))
    checkpoints.load(network, stored, torch.device("cpu"), torch.float32)
    target.mkdir(parents=True, exist_ok=True)
    tensors = network.state_dict()
    save_file(tensors, target / WEIGHTS)
    write_json(target / CONFIG, data | shapes.to_json())
    write_json(target / STATISTICS, statistics)
    if (source / TOKENIZER).is_file():
        shutil.copyfile(source / TOKENIZER, target / TOKENIZER)
    write_sums(target)
    return {
        "target": str(target),
        "tensors": len(tensors),
        "parameters": sum(tensor.numel() for tensor in tensors.values()),
    }
