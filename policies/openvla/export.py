"""From a training run to a folder in OpenVLA's published layout, with our policy.json beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from policies.base import PolicyCard
from policies.folder import CARD, STATISTICS, TOKENIZER, WEIGHTS, file_hash, write_json, write_sums
from policies.openvla.policy import CONFIG, PREPROCESSOR
from policies.openvla.sizes import config_json, preprocessor_json
from policies.openvla.training import VLA, OpenVLATrainer
from policies.training.export import LICENSE, ORGANIZATION, Naming, copy_log, provenance, spec_of, summary


def export(trainer: OpenVLATrainer, naming: Naming, folder: Path, dtype: torch.dtype = torch.bfloat16) -> PolicyCard:
    """Write (or write anew) the whole folder with the averaged weights as they are now, without the training heads.

    In bfloat16 as the published checkpoint: half the size; computing widens them where a device wants float32.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = shipped(trainer.ema, dtype)
    save_file(weights, folder / WEIGHTS)
    sizes = trainer.plan.sizes
    write_json(folder / CONFIG, config_json(sizes))
    write_json(folder / PREPROCESSOR, preprocessor_json(sizes))
    write_json(folder / STATISTICS, trainer.statistics)
    trainer.tokenizer.save(str(folder / TOKENIZER))
    copy_log(trainer, folder)
    card = PolicyCard(
        spec=spec_of(naming, "openvla", sizes.image_size, 1),
        description=naming.description,
        organization=ORGANIZATION,
        license=LICENSE,
        provenance=provenance("OpenVLA", trainer),
        revision=file_hash(folder / WEIGHTS),
        network={"sizes": asdict(sizes)},
        training=summary(trainer, weights),
        measured={},
    )
    write_json(folder / CARD, card.to_json())
    write_sums(folder)
    return card


def shipped(averaged: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    """The network's own weights under the names of the published checkpoint."""
    own = {name.removeprefix(VLA): value for name, value in averaged.items() if name.startswith(VLA)}
    return {name: value.to("cpu", dtype).contiguous() for name, value in own.items()}
