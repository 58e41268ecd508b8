"""Batches in an order that depends on the seed and the step alone, so that a resumed run goes on exactly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policies.film.losses import FilmLabels
from policies.film.tokenizer import WordTokenizer
from policies.film.words import WordNoise, disturb, needless, pad
from policies.networks.film import GREY, patches
from policies.training.dataset import Demonstrations
from policies.training.order import FrameOrder
from policies.transforms import DatasetStatistics


@dataclass(frozen=True)
class Noise:
    """Augmentation. Pictures are never shifted: a pixel's place is what the arm acts on.

    `brightness` and `contrast` for the whole picture, `colour` per channel (standard deviations, picture in -1..1);
    `proprioception` in standard deviations of the data.
    """

    brightness: float = 0.1
    contrast: float = 0.1
    colour: float = 0.04
    proprioception: float = 0.02
    words: WordNoise = field(default_factory=WordNoise)


@dataclass(frozen=True)
class FilmBatch:
    images: Tensor  # uint8 (B, 3 * patch**2, S, S)
    gain: Tensor  # (B, 3 * patch**2, 1, 1): picture = (pixel - GREY) * gain + offset
    offset: Tensor
    tokens: Tensor  # int64 (B, L)
    proprioception: Tensor  # float32 (B, 8)
    labels: FilmLabels


class FilmBatchMaker:
    """`make(step)` answers the batch of that step: the same for the same demonstrations, seed and sizes."""

    def __init__(
        self,
        demos: Demonstrations,
        statistics: DatasetStatistics,
        tokenizer: WordTokenizer,
        *,
        batch: int,
        seed: int,
        patch: int,
        noise: Noise | None = None,
    ) -> None:
        self.demos, self.statistics, self.tokenizer = demos, statistics, tokenizer
        self.batch, self.seed, self.patch, self.noise = batch, seed, patch, noise or Noise()
        self.tokens = {number: tokenizer.encode(text) for number, text in demos.texts.items()}
        self.free = needless(self.tokens, demos.goals)
        self.order = FrameOrder(len(demos), batch, seed)

    def make(self, step: int) -> FilmBatch:
        random = np.random.default_rng([self.seed, 1, step])
        frames = self.demos.read(self.order.rows(step))
        sentences = [
            disturb(self.tokens[i], self.free[i], self.noise.words, random) for i in frames.instruction.tolist()
        ]
        gain, offset = self._light(random)
        proprioception = self.statistics.normalise_proprioception(frames.proprioception)
        proprioception += random.normal(0, self.noise.proprioception, proprioception.shape).astype(np.float32)
        labels = FilmLabels(
            actions=_float(self.statistics.normalise_actions(frames.actions)),
            mask=_float(frames.mask),
            pixels=_float(frames.pixels),
            places=_float(self.statistics.normalise_places(frames.points)),
            held=_float(frames.held),
            turn=_float(frames.yaw),
        )
        images = patches(torch.from_numpy(frames.images), self.patch)
        return FilmBatch(images, gain, offset, torch.from_numpy(pad(sentences)), _float(proprioception), labels)

    def _light(self, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Gain and offset per patch channel for one batch; channels are (row, column, colour), colour fastest."""
        noise, size = self.noise, (self.batch, 1)
        gain = 1 + random.normal(0, noise.contrast, size) + random.normal(0, noise.colour, (self.batch, 3))
        offset = random.normal(0, noise.brightness, size) + random.normal(0, noise.colour, (self.batch, 3))
        repeat = (1, self.patch**2)
        gain, offset = np.tile(gain, repeat) / GREY, np.tile(offset, repeat)
        return _float(gain[:, :, None, None]), _float(offset[:, :, None, None])


def _float(array: NDArray[np.generic]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, np.float32))
