"""From a training run of any family to a policy folder."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from policies.base import PolicyCard, PolicySpec
from policies.folder import CARD, LOG, STATISTICS, WEIGHTS, file_hash, write_json, write_sums
from policies.training.loop import TrainingRun, cut_log
from simulation.contracts import CameraSpec, Chunking


@dataclass(frozen=True)
class Naming:
    """What the command says about the new policy: its names, and how its chunks are played."""

    id: str
    name: str
    description: str
    chunking: Chunking = field(default_factory=lambda: Chunking(execute=2))


def write_folder(
    run: TrainingRun, naming: Naming, folder: Path, files: Mapping[str, Any], *, chunk: int, network: Mapping[str, Any]
) -> PolicyCard:
    """Write the whole folder with the averaged weights as they are now, and replace what was there.

    `files`: what the family adds, by name: the content of a JSON file, or a text. `network`: that of the card.
    """
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name.removeprefix(run.shipped_prefix): value.to("cpu", run.shipped_dtype).contiguous()
        for name, value in run.exported().items()
        if name.startswith(run.shipped_prefix)
    }
    save_file(weights, folder / WEIGHTS)
    for name, content in {STATISTICS: run.statistics, **files}.items():
        if isinstance(content, str):
            (folder / name).write_text(content, "utf-8")
        else:
            write_json(folder / name, content)
    copy_log(run, folder)
    card = PolicyCard(
        PolicySpec(
            id=naming.id,
            name=naming.name,
            family=run.family,
            cameras=(CameraSpec(run.demos.camera, run.demos.image_size, run.demos.image_size),),
            chunk=chunk,
            chunking=naming.chunking,
            statistics_key=run.statistics_key,
            **run.demos.control,
        ),
        description=naming.description,
        organization="VLA Arena",
        license=run.demos.license,
        provenance=f"{run.architecture} architecture, trained by VLA Arena on {run.demos.episodes} scripted "
        "demonstrations in simulation",
        revision=file_hash(folder / WEIGHTS),
        network=network,
        training=_summary(run, sum(value.numel() for value in weights.values())),
    )
    write_json(folder / CARD, card.to_json())
    write_sums(folder)
    return card


def _summary(run: TrainingRun, parameters: int) -> dict[str, object]:
    """The `training` of a policy.json. `before`: the runs that this one began with; `mixed`: the share of their
    weights."""
    before = {"before": run.history} if run.history else {}
    scenes = {"scenes": run.demos.scenes} if run.demos.scenes else {}
    mixed = {"mixed": run.mixed} if run.mixed else {}
    return (
        before
        | scenes
        | mixed
        | {
            "demonstrations": run.demos.episodes,
            "frames": len(run.demos),
            "data": run.demos.fingerprint,
            "samples": run.done * run.plan.batch,
            "seconds": round(run.seconds),
            "parameters": parameters,
            "device": run.device.type,
            "machine": platform.machine(),
            "computed_in": str(run.dtype).removeprefix("torch."),
            "torch": torch.__version__,
            "plan": asdict(run.plan),
        }
    )


def copy_log(run: TrainingRun, folder: Path) -> None:
    if (run.folder / LOG).exists():
        shutil.copyfile(run.folder / LOG, folder / LOG)
        cut_log(folder / LOG, run.done)
