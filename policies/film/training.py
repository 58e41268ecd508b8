"""Behaviour cloning of the FiLM network."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from policies.base import PolicyCard
from policies.film.batches import FilmBatchMaker
from policies.film.losses import WEIGHTS, FilmLabels, losses
from policies.film.tokenizer import WordTokenizer
from policies.folder import TOKENIZER
from policies.networks.film import GREY, FilmConfig, FilmNetwork
from policies.training.export import Naming, write_folder
from policies.training.loop import TrainingPlan, TrainingRun


@dataclass(frozen=True)
class FilmPlan(TrainingPlan):
    language: bool = True  # False: the network never reads the instruction
    channels: int = 32
    text_dim: int = 64
    hidden: int = 256
    pictures: int = 1


class FilmTrainer(TrainingRun):
    family = "film"
    architecture = "FiLM"
    terms: ClassVar[tuple[str, ...]] = ("total", *WEIGHTS)
    shipped_dtype = torch.float32
    plan: FilmPlan
    network: FilmNetwork

    def build(self) -> nn.Module:
        demos, plan = self.demos, self.plan
        self.tokenizer = WordTokenizer.from_texts(demos.texts.values()) if plan.language else WordTokenizer([])
        config = FilmConfig(
            self.tokenizer.size,
            image_size=demos.image_size,
            channels=plan.channels,
            text_dim=plan.text_dim,
            chunk=demos.chunk,
            hidden=plan.hidden,
            pictures=plan.pictures,
        )
        self.sizes = asdict(config)
        self.batches = FilmBatchMaker(demos, self.scales, self.tokenizer, self.order, config)
        network: nn.Module = FilmNetwork(config).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        return network

    def losses(self, step: int) -> dict[str, Tensor]:
        batch, to = self.batches.make(step), self.device
        with self.autocast():
            pixels = batch.images.to(to, self.dtype) - GREY  # whole numbers up to 256 are exact in bfloat16
            picture = pixels * batch.gain.to(to, self.dtype) + batch.offset.to(to, self.dtype)
            with torch.autocast(to.type, enabled=False):
                text = self.network.text(batch.tokens.to(to))
            output = self.network(picture, text, batch.proprioception.to(to))
        return losses(output, FilmLabels(*(label.to(to) for label in batch.labels)))

    def export(self, naming: Naming, folder: Path) -> PolicyCard:
        files = {TOKENIZER: self.tokenizer.to_json()}
        return write_folder(self, naming, folder, files, chunk=self.demos.chunk, network=self.sizes)
