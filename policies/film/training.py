"""Behaviour cloning of the FiLM network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from policies.base import DatasetError, PolicyCard
from policies.film.batches import FilmBatchMaker
from policies.film.losses import WEIGHTS, FilmLabels, losses
from policies.film.tokenizer import WordTokenizer
from policies.film.warm_start import WarmStart
from policies.folder import TOKENIZER
from policies.networks.film import GREY, FilmConfig, FilmNetwork
from policies.reference import write_reference
from policies.training.dataset import Demonstrations
from policies.training.export import Naming, write_folder
from policies.training.loop import Pace, TrainingPlan, TrainingRun


@dataclass(frozen=True)
class FilmPlan(TrainingPlan):
    language: bool = True  # False: the network never reads the instruction
    channels: int = 32
    text_dim: int = 64
    hidden: int = 256
    pictures: int = 1
    stages: int = 0  # that the network can remember; 0: it has no memory
    move_bins: int = 0  # of each part of the move; 0: it is learnt as a number alone
    origin: str = ""  # the policy folder that the run begins with, and its revision


class FilmTrainer(TrainingRun):
    family = "film"
    architecture = "FiLM"
    terms: ClassVar[tuple[str, ...]] = ("total", *WEIGHTS)
    shipped_dtype = torch.float32
    plan: FilmPlan
    network: FilmNetwork

    def __init__(
        self,
        demos: Demonstrations,
        plan: FilmPlan,
        folder: Path,
        pace: Pace | None = None,
        start: WarmStart | None = None,
        mixed: float = 0.0,
    ) -> None:
        """`start`: whose weights, words and statistics to begin with. `mixed`: its share in the exported weights."""
        if plan.stages and not demos.has_stages:
            raise DatasetError(f"stages {plan.stages}: the demonstrations do not tell stages; make them anew")
        self.start = start
        super().__init__(demos, replace(plan, origin=start.origin if start else ""), folder, pace)
        self.history = start.history if start else []
        self.mixed = mixed
        self.first = {name: value.clone() for name, value in self.ema.items()} if mixed else {}

    def measure(self) -> Mapping[str, Any]:
        return self.start.statistics if self.start else super().measure()

    def build(self) -> nn.Module:
        demos, plan = self.demos, self.plan
        self.tokenizer = self._words()
        config = FilmConfig(
            self.tokenizer.size,
            image_size=demos.image_size,
            channels=plan.channels,
            text_dim=plan.text_dim,
            chunk=demos.chunk,
            hidden=plan.hidden,
            pictures=plan.pictures,
            stages=plan.stages,
            move_bins=plan.move_bins,
        )
        self.sizes = asdict(config)
        self.batches = FilmBatchMaker(demos, self.scales, self.tokenizer, self.order, config)
        network: nn.Module = FilmNetwork(config)
        if self.start:
            self.start.load_into(network, self.sizes)
        return network.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]

    def _words(self) -> WordTokenizer:
        if self.start:
            return self.start.words_for(self.demos.texts, self.plan.language)
        return WordTokenizer.from_texts(self.demos.texts.values()) if self.plan.language else WordTokenizer([])

    def losses(self, step: int) -> dict[str, Tensor]:
        batch, to = self.batches.make(step), self.device
        with self.autocast():
            pixels = batch.images.to(to, self.dtype) - GREY  # whole numbers up to 256 are exact in bfloat16
            picture = pixels * batch.gain.to(to, self.dtype) + batch.offset.to(to, self.dtype)
            with torch.autocast(to.type, enabled=False):
                text = self.network.text(batch.tokens.to(to))
            output = self.network(picture, text, batch.proprioception.to(to), batch.before.to(to))
        return losses(output, FilmLabels(*(label.to(to) for label in batch.labels)))

    def exported(self) -> Mapping[str, Tensor]:
        """On the way from what it began with to what it learnt (Wortsman et al. 2022, Robust fine-tuning)."""
        if not self.mixed:
            return self.ema
        return {name: value.lerp(self.first[name], self.mixed) for name, value in self.ema.items()}

    def export(self, naming: Naming, folder: Path) -> PolicyCard:
        files = {TOKENIZER: self.tokenizer.to_json()}
        card = write_folder(self, naming, folder, files, chunk=self.demos.chunk, network=self.sizes)
        write_reference(folder)
        return card
