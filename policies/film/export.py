"""From a training run to a policy folder that can be shipped."""

from __future__ import annotations

import platform
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors.torch import save_file

from policies.base import ACTION_SPACE, PolicyCard, PolicySpec
from policies.film.training import Trainer
from policies.folder import CARD, LOG, STATISTICS, TOKENIZER, WEIGHTS, file_hash, write_json, write_sums
from policies.transforms import STATISTICS_KEY
from simulation.contracts import CONTROL_HZ, CameraSpec, Chunking

ORGANIZATION = "VLA Arena"
LICENSE = "Apache-2.0"


@dataclass(frozen=True)
class Naming:
    """What people read about the contestant."""

    id: str
    name: str
    description: str
    camera: str = "workspace"
    chunking: Chunking = field(default_factory=lambda: Chunking(execute=2))


def export(trainer: Trainer, naming: Naming, folder: Path) -> PolicyCard:
    """Write (or write anew) the whole folder with the averaged weights as they are now."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: value.cpu().contiguous() for name, value in trainer.ema.items()}, folder / WEIGHTS)
    write_json(folder / STATISTICS, trainer.statistics)
    write_json(folder / TOKENIZER, trainer.tokenizer.to_json())
    if (trainer.folder / LOG).exists():
        shutil.copyfile(trainer.folder / LOG, folder / LOG)
    card = PolicyCard(
        spec=_spec(trainer, naming),
        description=naming.description,
        organization=ORGANIZATION,
        license=LICENSE,
        provenance=provenance(trainer),
        revision=file_hash(folder / WEIGHTS),
        network={**asdict(trainer.config), "dilations": list(trainer.config.dilations)},
        training=_summary(trainer),
        measured={},
    )
    write_json(folder / CARD, card.to_json())
    write_sums(folder)
    return card


def provenance(trainer: Trainer) -> str:
    return f"FiLM architecture, trained by VLA Arena on {trainer.demos.episodes} scripted demonstrations in simulation"


def _spec(trainer: Trainer, naming: Naming) -> PolicySpec:
    size = trainer.config.image_size
    return PolicySpec(
        id=naming.id,
        name=naming.name,
        family="film",
        cameras=(CameraSpec(naming.camera, size, size),),
        action_space=ACTION_SPACE,
        rate_hz=CONTROL_HZ,
        chunk=trainer.config.chunk,
        chunking=naming.chunking,
        statistics_key=STATISTICS_KEY,
    )


def _summary(trainer: Trainer) -> dict[str, object]:
    return {
        "demonstrations": trainer.demos.episodes,
        "frames": len(trainer.demos),
        "data": trainer.demos.fingerprint,
        "samples": trainer.done * trainer.plan.batch,
        "seconds": round(trainer.seconds),
        "parameters": sum(value.numel() for value in trainer.ema.values()),
        "device": trainer.device.type,
        "machine": platform.machine(),
        "torch": torch.__version__,
        "plan": asdict(trainer.plan),
    }
