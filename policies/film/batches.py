"""Batches for the FiLM network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from policies.film.losses import FilmLabels
from policies.film.tokenizer import WordTokenizer
from policies.film.words import WordNoise, disturb, needless, pad
from policies.networks.film import GREY, patches
from policies.training.batches import FrameOrder, draw_light, to_float
from policies.training.dataset import Demonstrations
from policies.transforms import DatasetStatistics

PROPRIOCEPTION_NOISE = 0.02  # standard deviations of the data
WORD_NOISE = WordNoise()


@dataclass(frozen=True)
class FilmBatch:
    images: Tensor  # uint8 (B, 3 * patch**2, S, S)
    gain: Tensor  # (B, 3 * patch**2, 1, 1): picture = (pixel - GREY) * gain + offset
    offset: Tensor
    tokens: Tensor  # int64 (B, L)
    proprioception: Tensor  # float32 (B, 8)
    labels: FilmLabels


class FilmBatchMaker:
    """`make(step)` returns the batch of that step, the same for the same demonstrations, order and sizes."""

    def __init__(
        self,
        demos: Demonstrations,
        statistics: DatasetStatistics,
        tokenizer: WordTokenizer,
        order: FrameOrder,
        patch: int,
    ) -> None:
        self.demos, self.statistics, self.order, self.patch = demos, statistics, order, patch
        self.tokens = {number: tokenizer.encode(text) for number, text in demos.texts.items()}
        self.free = needless(self.tokens, demos.goals)

    def make(self, step: int) -> FilmBatch:
        random = self.order.random(step)
        frames = self.demos.read(self.order.rows(step))
        sentences = [disturb(self.tokens[i], self.free[i], WORD_NOISE, random) for i in frames.instruction.tolist()]
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
        )
        images = patches(torch.from_numpy(frames.images), self.patch)
        return FilmBatch(images, gain, offset, torch.from_numpy(pad(sentences)), to_float(proprioception), labels)

    def _light(self, count: int, random: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Gain and offset per patch channel of a batch; channels are (row, column, colour), colour fastest."""
        gain, offset = (np.tile(colours, (1, self.patch**2)) for colours in draw_light(count, random))
        return to_float(gain[:, :, None, None] / GREY), to_float(offset[:, :, None, None])
