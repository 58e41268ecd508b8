"""Behaviour cloning of a small Octo: noise prediction for its head, and auxiliary losses for all earlier stages."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn

from policies.base import PolicyCard
from policies.folder import CONFIG, TOKENIZER
from policies.networks.octo import Octo
from policies.octo.auxiliary import WEIGHTS, AuxiliaryHeads
from policies.octo.batches import OctoBatch, OctoBatchMaker
from policies.octo.initial import initialise
from policies.octo.one_frame import OneFrame, OneFrameOutput
from policies.octo.scale import StandardScale
from policies.octo.sizes import OctoMiniSizes, config_json, octo_config
from policies.octo.text import TextTokenizer
from policies.octo.tokenizer import train_tokenizer
from policies.reference import write_reference
from policies.training.batches import weighted_sum
from policies.training.export import Naming, write_folder
from policies.training.loop import TrainingPlan, TrainingRun

TEMPERATURE = 0.0  # a draw is twice as far from the expert's action as the mean of all draws


@dataclass(frozen=True)
class OctoPlan(TrainingPlan):
    """`draws`: noisy chunks per frame. `others`: share of frames with an instruction other than their own."""

    learning_rate: float = 1e-3
    clip: float = 1.0
    draws: int = 4
    others: float = 0.25
    sizes: OctoMiniSizes = field(default_factory=OctoMiniSizes)


class OctoStudent(nn.Module):
    """The shipped network and the auxiliary heads."""

    def __init__(self, octo: Octo, things: int) -> None:
        super().__init__()
        self.octo = octo
        # The checkpoints of runs that can be resumed have this name.
        self.hints = AuxiliaryHeads(octo.config.dim, octo.config.text.encoder.dim, things)


class OctoTrainer(TrainingRun):
    family = "octo"
    architecture = "Octo"
    terms: ClassVar[tuple[str, ...]] = ("total", *WEIGHTS)
    shipped_prefix = "octo."
    plan: OctoPlan
    network: OctoStudent

    def build(self) -> nn.Module:
        plan, self.sizes = self.plan, asdict(self.plan.sizes)
        self.tokenizer = train_tokenizer(self.demos.texts.values(), plan.sizes.vocabulary)
        self.config = octo_config(plan.sizes)
        self.batches = OctoBatchMaker(
            self.demos,
            self.scales,
            StandardScale.from_statistics(self.statistics[self.statistics_key]["action"]),
            TextTokenizer(self.tokenizer, self.config.text),
            self.order,
            others=plan.others,
            draws=plan.draws,
            diffusion_steps=self.config.head.steps,
        )
        octo = Octo(self.config)
        initialise(octo)
        self.one_frame = OneFrame(octo)
        return OctoStudent(octo, len(self.demos.things))

    def losses(self, step: int) -> dict[str, Tensor]:
        batch = self.batches.make(step).to(self.device)
        with self.autocast():
            output = self.one_frame(batch.images, batch.ids, batch.present)
            auxiliary: dict[str, Tensor] = self.network.hints(output, batch.labels, batch.present)
            terms = {"noise": self._noise(output, batch), **auxiliary}
        return terms | {"total": weighted_sum(terms, WEIGHTS)}

    def _noise(self, output: OneFrameOutput, batch: OctoBatch) -> Tensor:
        """The head's loss over several draws of noise per frame, which cost little beside the transformer."""
        labels, size = batch.labels, batch.noise.shape
        readout = output.readout[:, None].expand(-1, size[1], -1)
        actions = labels.actions.flatten(1)[:, None].expand(size)
        mask = labels.mask[..., None].expand_as(labels.actions).flatten(1)[:, None].expand(size)
        found: Tensor = self.network.octo.heads_action.loss(readout, actions, mask, batch.time, batch.noise)
        return found

    def export(self, naming: Naming, folder: Path) -> PolicyCard:
        """Write the folder without the auxiliary heads."""
        sizes = self.plan.sizes
        files = {CONFIG: config_json(sizes), TOKENIZER: self.tokenizer.to_str(pretty=True)}
        network = {**self.sizes, "temperature": TEMPERATURE}
        card = write_folder(self, naming, folder, files, chunk=sizes.chunk, network=network)
        write_reference(folder)
        return card
