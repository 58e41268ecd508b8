"""Batches for octo-mini."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policies.octo.auxiliary import OctoLabels
from policies.octo.policy import StandardScale
from policies.octo.text import TextTokenizer
from policies.training.batches import FrameOrder, draw_light, to_float
from policies.training.dataset import Demonstrations, Frames, SceneFrames
from policies.transforms import DatasetStatistics

GREY = 127.5
WAY = 0.05  # [m] from the tool to the object, as one unit

Array = NDArray[np.generic]


@dataclass(frozen=True)
class OctoBatch:
    images: Tensor  # float32 (B, H, W, 3), about 0..255
    ids: Tensor  # int64 (B, L)
    present: Tensor  # bool (B, L)
    labels: OctoLabels
    noise: Tensor  # (B, draws, chunk * 7) standard normal
    time: Tensor  # (B, draws, 1) whole diffusion steps

    def to(self, device: torch.device) -> OctoBatch:
        labels = OctoLabels(**{name: value.to(device) for name, value in vars(self.labels).items()})
        tensors = {name: value.to(device) for name, value in vars(self).items() if name != "labels"}
        return OctoBatch(**tensors, labels=labels)


@dataclass(frozen=True)
class Assigned:
    """The instruction of each frame: text and task numbers (B,), actions (B, chunk, 7), which of them count (B, chunk).

    `own` (B,): it is the demonstration's. Of any other only the action in the present state is known, which the chunk
    repeats.
    """

    texts: Array
    tasks: Array
    actions: NDArray[np.float64]
    mask: NDArray[np.bool_]
    own: NDArray[np.bool_]


class OctoBatchMaker:
    """`make(step)` returns the batch of that step, the same for the same demonstrations, order and sizes.

    `others`: share of the frames whose instruction is not that of their demonstration.
    """

    def __init__(
        self,
        demos: Demonstrations,
        statistics: DatasetStatistics,
        scale: StandardScale,
        text: TextTokenizer,
        order: FrameOrder,
        *,
        others: float,
        draws: int,
        diffusion_steps: int,
    ) -> None:
        self.demos, self.statistics, self.scale, self.text = demos, statistics, scale, text
        self.others, self.draws, self.diffusion_steps = others, draws, diffusion_steps
        self.order, self.roles = order, demos.roles()
        self._encoded: dict[int, tuple[Tensor, Tensor]] = {}

    def make(self, step: int) -> OctoBatch:
        return self.collect(self.order.rows(step), self.order.random(step))

    def collect(self, rows: NDArray[np.int64], random: np.random.Generator, *, disturb: bool = True) -> OctoBatch:
        """The batch of these frames. Without `disturb`, pictures stay as they are, each with its own instruction."""
        frames, scene = self.demos.read(rows), self.demos.read_scene(rows)
        assigned = self._assign(rows, frames, scene, random, self.others if disturb else 0.0)
        images = torch.from_numpy(frames.images).float()
        if disturb:
            gain, offset = (to_float(colours[:, None, None]) for colours in draw_light(len(rows), random))
            images = (images - GREY) * gain + (offset + 1) * GREY
        ids, present = zip(*(self._encode(int(number)) for number in assigned.texts), strict=True)
        labels = self._labels(frames, scene, assigned)
        size = (len(rows), self.draws, assigned.actions[0].size)
        return OctoBatch(
            images,
            torch.cat(ids),
            torch.cat(present),
            labels,
            to_float(random.standard_normal(size)),
            torch.from_numpy(random.integers(0, self.diffusion_steps, (*size[:2], 1))),
        )

    def _assign(
        self, rows: Array, frames: Frames, scene: SceneFrames, random: np.random.Generator, share: float
    ) -> Assigned:
        count = np.arange(len(rows))
        other, which = random.random(len(rows)) < share, random.integers(0, scene.tasks.shape[1], len(rows))
        tasks = self.demos.labels["task"][rows]
        known = np.arange(frames.mask.shape[1]) == 0
        return Assigned(
            np.where(other, scene.instructions[count, which], frames.instruction),
            np.where(other, scene.tasks[count, which], tasks),
            np.where(other[:, None, None], scene.actions[count, which][:, None], frames.actions).astype(np.float64),
            np.where(other[:, None], known, frames.mask),
            ~other,
        )

    def _encode(self, number: int) -> tuple[Tensor, Tensor]:
        if number not in self._encoded:
            self._encoded[number] = self.text.encode(self.demos.wordings[number])
        return self._encoded[number]

    def _labels(self, frames: Frames, scene: SceneFrames, assigned: Assigned) -> OctoLabels:
        roles = self.roles[assigned.tasks]
        rows, tool = np.arange(len(roles))[:, None], frames.proprioception[:, None, :3]
        spots = np.concatenate([scene.things_pixels[rows, roles], frames.pixels[:, 2:]], 1)
        points = np.concatenate([scene.things_points[rows, roles], tool], 1)
        return OctoLabels(
            scene=to_float(np.concatenate([scene.things_pixels, frames.pixels[:, 2:]], 1)),
            pointed=to_float(spots),
            places=to_float(self.statistics.normalise_places(points)),
            way=to_float((points[:, 0] - points[:, 2]) / WAY),
            arm=to_float(self.statistics.normalise_proprioception(frames.proprioception)),
            turn=to_float(frames.yaw),
            held=to_float(frames.held),
            own=to_float(assigned.own),
            roles=torch.from_numpy(roles),
            actions=to_float(self.scale.normalise(assigned.actions)),
            mask=to_float(assigned.mask),
        )
