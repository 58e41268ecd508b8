"""Behaviour cloning of a small Octo: noise prediction for its head, auxiliary losses for all that lies before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from policies.networks.octo import Octo
from policies.octo.auxiliary import WEIGHTS, AuxiliaryHeads
from policies.octo.batches import OctoBatch, OctoBatchMaker
from policies.octo.initial import initialise
from policies.octo.policy import StandardScale
from policies.octo.sizes import OctoMiniSizes, octo_config
from policies.octo.text import TextTokenizer
from policies.octo.tokenizer import train_tokenizer
from policies.octo.walk import OneFrame, Walk
from policies.training.dataset import Demonstrations
from policies.training.loop import Pace, TrainingPlan, TrainingRun, seed_everything
from policies.transforms import STATISTICS_KEY, read_statistics

OCTO = "octo."  # prefix of the weights that are shipped


@dataclass(frozen=True)
class OctoPlan(TrainingPlan):
    """`draws`: noisy chunks per frame; `others`: share of frames asked for something else than their demonstration."""

    learning_rate: float = 1e-3
    warm_up: int = 200
    clip: float = 1.0
    draws: int = 4
    others: float = 0.25
    sizes: OctoMiniSizes = field(default_factory=OctoMiniSizes)


class OctoStudent(nn.Module):
    """The network that is shipped and the auxiliary heads that are not."""

    def __init__(self, octo: Octo, things: int) -> None:
        super().__init__()
        self.octo = octo
        # The name stays: checkpoints of runs that can be resumed know it.
        self.hints = AuxiliaryHeads(octo.config.dim, octo.config.text.encoder.dim, things)


class OctoTrainer(TrainingRun):
    terms: ClassVar[tuple[str, ...]] = ("total", *WEIGHTS)
    plan: OctoPlan
    network: OctoStudent

    def __init__(self, demos: Demonstrations, plan: OctoPlan, folder: Path, pace: Pace | None = None) -> None:
        pace = pace or Pace()
        device = seed_everything(plan, pace)
        self.statistics = demos.statistics()
        self.tokenizer = train_tokenizer(demos.texts.values(), plan.sizes.vocabulary)
        self.config = octo_config(plan.sizes)
        self.batches = OctoBatchMaker(
            demos,
            read_statistics(self.statistics, STATISTICS_KEY),
            StandardScale.from_statistics(self.statistics[STATISTICS_KEY]["action"]),
            TextTokenizer(self.tokenizer, self.config.text),
            batch=plan.batch,
            seed=plan.seed,
            others=plan.others,
            draws=plan.draws,
            diffusion_steps=self.config.head.steps,
        )
        octo = Octo(self.config)
        initialise(octo)
        student = OctoStudent(octo, len(demos.things)).to(device)
        self.walk = OneFrame(student.octo)
        super().__init__(demos, plan, folder, pace, student, device)

    @property
    def network_sizes(self) -> Mapping[str, Any]:
        return asdict(self.plan.sizes)

    def losses(self, step: int) -> dict[str, Tensor]:
        return self.measure(self.batches.make(step))

    def measure(self, batch: OctoBatch) -> dict[str, Tensor]:
        """All terms, unweighted, and their weighted sum."""
        batch = batch.to(self.device)
        with torch.autocast(self.device.type, torch.bfloat16):
            walk = self.walk(batch.images, batch.ids, batch.present)
            terms = self.network.hints(walk, batch.labels, batch.present)
            terms["noise"] = self._noise(walk, batch)
        weighted: dict[str, Tensor] = {
            **terms,
            "total": torch.stack([WEIGHTS[name] * terms[name] for name in WEIGHTS]).sum(),
        }
        return weighted

    def _noise(self, walk: Walk, batch: OctoBatch) -> Tensor:
        """The head's loss, over several draws of noise per frame: it is small next to the transformer."""
        labels, size = batch.labels, batch.noise.shape
        readout = walk.readout[:, None].expand(-1, size[1], -1)
        actions = labels.actions.flatten(1)[:, None].expand(size)
        mask = labels.mask[..., None].expand_as(labels.actions).flatten(1)[:, None].expand(size)
        found: Tensor = self.network.octo.heads_action.loss(readout, actions, mask, batch.time, batch.noise)
        return found
