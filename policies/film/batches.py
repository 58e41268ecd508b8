"""Batches for the FiLM network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policies.film.losses import FilmLabels
from policies.film.tokenizer import WordTokenizer
from policies.film.words import WordNoise, disturb, needless, pad
from policies.networks.film import GREY, FilmConfig, patches, stacked
from policies.training.batches import FrameOrder, draw_light, to_float
from policies.training.dataset import Array, Demonstrations
from policies.transforms import DatasetStatistics

PROPRIOCEPTION_NOISE = 0.02  # standard deviations of the data
LATEST = 4  # frames ago that a network with a memory has looked at most: a chunk is played between two looks
WORD_NOISE = WordNoise()


@dataclass(frozen=True)
class FilmBatch:
    images: Tensor  # uint8 (B, 3 * patch**2 * pictures, S, S)
    gain: Tensor  # (B, 3 * patch**2 * pictures, 1, 1): picture = (pixel - GREY) * gain + offset
    offset: Tensor
    tokens: Tensor  # int64 (B, L)
    proprioception: Tensor  # float32 (B, 8)
    before: Tensor  # int64 (B,), how many stages were reached some frames before
    labels: FilmLabels


class FilmBatchMaker:
    """`make(step)` returns the batch of that step, the same for the same demonstrations, order and sizes."""

    def __init__(
        self,
        demos: Demonstrations,
        statistics: DatasetStatistics,
        tokenizer: WordTokenizer,
        order: FrameOrder,
        config: FilmConfig,
    ) -> None:
        self.demos, self.statistics, self.order, self.config = demos, statistics, order, config
        said = {number: tokenizer.encode(demos.wordings[number]) for number in demos.goals}
        free = needless(said, demos.goals)
        self.tokens = {number: said[number] for number in demos.texts}
        self.free = {number: free[number] for number in demos.texts}

    def make(self, step: int) -> FilmBatch:
        random = self.order.random(step)
        rows = self.order.rows(step)
        frames = self.demos.read(rows)
        said = self._reworded(rows, frames.instruction, random)
        sentences = [disturb(self.tokens[i], self.free[i], WORD_NOISE, random) for i in said]
        gain, offset = self._light(len(sentences), random)
        proprioception = self.statistics.normalise_proprioception(frames.proprioception)
        proprioception += random.normal(0, PROPRIOCEPTION_NOISE, proprioception.shape).astype(np.float32)
        labels = FilmLabels(
            actions=to_float(self.statistics.normalise_actions(frames.actions)),
            mask=to_float(frames.mask),
            pixels=to_float(frames.pixels),
            places=to_float(self.statistics.normalise_places(frames.points)),
            held=to_float(frames.held),
            turn=to_float(frames.yaw),
            stage=torch.from_numpy(self.demos.stages(rows, np.zeros(len(rows), np.int64))),
        )
        ago = random.integers(1, LATEST + 1, len(rows)) if self.config.stages else np.zeros(len(rows), np.int64)
        before = torch.from_numpy(self.demos.stages(rows, ago))
        beginnings = self._patches(self.demos.read_beginnings(rows)) if self.config.pictures == 2 else None
        images = stacked(self._patches(frames.images), beginnings)
        return FilmBatch(
            images, gain, offset, torch.from_numpy(pad(sentences)), to_float(proprioception), before, labels
        )

    def _reworded(self, rows: Array, instructions: Array, random: np.random.Generator) -> list[int]:
        """For each frame any wording of its task, where the demonstrations tell them all: few were said of each."""
        known = zip(instructions.tolist(), self.demos.labels["task"][rows].tolist(), strict=True)
        alike = [self.demos.alike.get(task, [text]) for text, task in known]
        return [texts[int(random.integers(len(texts)))] for texts in alike]

    def _patches(self, images: NDArray[np.uint8]) -> Tensor:
        return patches(torch.from_numpy(images), self.config.patch)

    def _light(self, count: int, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Gain and offset per patch channel of a batch, alike for both pictures of a frame; channels are (row, column,
        colour), colour fastest.
        """
        times = self.config.patch**2 * self.config.pictures
        gain, offset = (np.tile(colours, (1, times)) for colours in draw_light(count, random))
        return to_float(gain[:, :, None, None] / GREY), to_float(offset[:, :, None, None])
