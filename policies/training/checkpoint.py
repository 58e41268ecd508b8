"""Saving a run so that it can go on exactly: tensors as safetensors, everything else as JSON, nothing as pickle."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from policies.base import CheckpointError, PolicyError
from policies.folder import read_json

STATE = "checkpoint.json"


def save(
    folder: Path,
    progress: Mapping[str, Any],
    model: nn.Module,
    ema: Mapping[str, Tensor],
    optimiser: torch.optim.Optimizer,
) -> None:
    """Write both files of one step. A crash in between leaves the previous checkpoint complete."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"ema.{name}": value for name, value in ema.items()}
    for name, parameter in model.named_parameters():
        for key, value in optimiser.state.get(parameter, {}).items():
            tensors[f"optimiser.{name}.{key}"] = value
    file = f"checkpoint-{progress['step']:08d}.safetensors"
    save_file({name: value.detach().cpu().contiguous() for name, value in tensors.items()}, folder / file)
    temporary = folder / f"{STATE}.part"
    temporary.write_text(json.dumps({**progress, "tensors": file}, indent=2), "utf-8")
    os.replace(temporary, folder / STATE)
    for old in folder.glob("checkpoint-*.safetensors"):
        if old.name != file:
            old.unlink()


def load(folder: Path, model: nn.Module, ema: dict[str, Tensor], optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """Fill model, ema and optimiser in place, and return the saved progress."""
    progress = read_progress(folder)
    tensors = _read_tensors(folder, progress)
    model.load_state_dict({name: tensors[f"model.{name}"] for name in model.state_dict()})
    for name, value in ema.items():
        value.copy_(tensors[f"ema.{name}"])
    for name, parameter in model.named_parameters():
        prefix = f"optimiser.{name}."
        found = {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
        optimiser.state[parameter] = {
            key: value if key == "step" else torch.empty_like(parameter).copy_(value) for key, value in found.items()
        }
    return progress


def read_averaged(folder: Path) -> dict[str, Tensor]:
    """The averaged weights of a run, by parameter name."""
    tensors = _read_tensors(folder, read_progress(folder))
    return {name.removeprefix("ema."): value for name, value in tensors.items() if name.startswith("ema.")}


def _read_tensors(folder: Path, progress: Mapping[str, Any]) -> dict[str, Tensor]:
    try:
        return load_file(folder / str(progress["tensors"]))
    except (FileNotFoundError, SafetensorError) as error:
        raise CheckpointError(f"{folder}: {progress['tensors']} cannot be read: {error}") from None


def read_progress(folder: Path) -> dict[str, Any]:
    try:
        return read_json(folder, STATE)
    except PolicyError as error:
        raise CheckpointError(f"nothing to resume: {error}") from None
