"""What every family writes into a policy folder the same way."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from policies.base import ACTION_SPACE, PolicySpec
from policies.folder import LOG
from policies.training.loop import TrainingRun, cut_log
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


def spec_of(naming: Naming, family: str, image_size: int, chunk: int) -> PolicySpec:
    return PolicySpec(
        id=naming.id,
        name=naming.name,
        family=family,
        cameras=(CameraSpec(naming.camera, image_size, image_size),),
        action_space=ACTION_SPACE,
        rate_hz=CONTROL_HZ,
        chunk=chunk,
        chunking=naming.chunking,
        statistics_key=STATISTICS_KEY,
    )


def provenance(architecture: str, run: TrainingRun) -> str:
    data = f"{run.demos.episodes} scripted demonstrations in simulation"
    return f"{architecture} architecture, trained by VLA Arena on {data}"


def summary(run: TrainingRun, weights: Mapping[str, Tensor]) -> dict[str, object]:
    """The `training` of a policy.json. `weights`: those that are shipped. `before`: runs that it began with."""
    before = {"before": run.history} if run.history else {}
    return before | {
        "demonstrations": run.demos.episodes,
        "frames": len(run.demos),
        "data": run.demos.fingerprint,
        "samples": run.done * run.plan.batch,
        "seconds": round(run.seconds),
        "parameters": sum(value.numel() for value in weights.values()),
        "device": run.device.type,
        "machine": platform.machine(),
        "torch": torch.__version__,
        "plan": asdict(run.plan),
    }


def copy_log(run: TrainingRun, folder: Path) -> None:
    if (run.folder / LOG).exists():
        shutil.copyfile(run.folder / LOG, folder / LOG)
        cut_log(folder / LOG, run.done)
