"""Behaviour cloning of the FiLM network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor

from policies.film.batches import FilmBatchMaker
from policies.film.losses import FilmLabels, losses
from policies.film.tokenizer import WordTokenizer
from policies.networks.film import GREY, FilmConfig, FilmNetwork
from policies.training.dataset import Demonstrations
from policies.training.loop import Pace, TrainingPlan, TrainingRun, seed_everything
from policies.transforms import STATISTICS_KEY, read_statistics


@dataclass(frozen=True)
class FilmPlan(TrainingPlan):
    language: bool = True  # False: the network never reads the instruction
    channels: int = 32


class FilmTrainer(TrainingRun):
    terms: ClassVar[tuple[str, ...]] = (
        "total", "linear", "yaw", "gripper", "map", "point", "place", "held", "turn",
    )  # fmt: skip
    plan: FilmPlan
    network: FilmNetwork

    def __init__(self, demos: Demonstrations, plan: FilmPlan, folder: Path, pace: Pace | None = None) -> None:
        pace = pace or Pace()
        device = seed_everything(plan, pace)
        self.statistics = demos.statistics()
        self.tokenizer = WordTokenizer.from_texts(demos.texts.values()) if plan.language else WordTokenizer([])
        self.config = FilmConfig(
            self.tokenizer.size, image_size=demos.image_size, channels=plan.channels, chunk=demos.chunk
        )
        numbers = read_statistics(self.statistics, STATISTICS_KEY)
        self.batches = FilmBatchMaker(
            demos, numbers, self.tokenizer, batch=plan.batch, seed=plan.seed, patch=self.config.patch
        )
        network = FilmNetwork(self.config).to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        super().__init__(demos, plan, folder, pace, network, device)

    @property
    def network_sizes(self) -> Mapping[str, Any]:
        return asdict(self.config)

    def losses(self, step: int) -> dict[str, Tensor]:
        batch, to = self.batches.make(step), self.device
        with torch.autocast(to.type, torch.bfloat16):
            pixels = batch.images.to(to).bfloat16() - GREY  # whole numbers up to 256 are exact in bfloat16
            picture = pixels * batch.gain.to(to).bfloat16() + batch.offset.to(to).bfloat16()
            with torch.autocast(to.type, enabled=False):
                text = self.network.text(batch.tokens.to(to))
            output = self.network(picture, text, batch.proprioception.to(to))
        return losses(output, FilmLabels(*(label.to(to) for label in batch.labels)))
