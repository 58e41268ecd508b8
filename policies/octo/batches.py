"""Batches for octo-mini."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policies.octo.auxiliary import OctoLabels
from policies.octo.scale import StandardScale
from policies.octo.text import TextTokenizer
from policies.training.batches import FrameOrder, draw_light, to_float
from policies.training.dataset import Demonstrations, Frames, SceneFrames
from policies.transforms import DatasetStatistics

GREY = 127.5
WAY = 0.05  # [m] from the tool to the object, as one unit

Array = NDArray[Any]


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
        self.demos, self.statistics, self.scale = demos, statistics, scale
        self.others, self.draws, self.diffusion_steps = others, draws, diffusion_steps
        self.order, self.roles = order, demos.roles()
        self._encoded = [text.encode(wording) for wording in demos.wordings]

    def make(self, step: int) -> OctoBatch:
        return self.collect(self.order.rows(step), self.order.random(step))

    def collect(self, rows: NDArray[np.int64], random: np.random.Generator, *, disturb: bool = True) -> OctoBatch:
        """The batch of these frames. Without `disturb`, pictures stay as they are, each with its own instruction."""
        frames, scene = self.demos.read(rows), self.demos.read_scene(rows)
        frames, tasks, own = self._reassign(rows, frames, scene, random, self.others if disturb else 0.0)
        images = torch.from_numpy(frames.images).float()
        if disturb:
            gain, offset = (to_float(colours[:, None, None]) for colours in draw_light(len(rows), random))
            images = (images - GREY) * gain + (offset + 1) * GREY
        ids, present = zip(*(self._encoded[number] for number in frames.instruction), strict=True)
        size = (len(rows), self.draws, frames.actions[0].size)
        return OctoBatch(
            images,
            torch.from_numpy(np.concatenate(ids)),
            torch.from_numpy(np.concatenate(present)),
            self._labels(frames, scene, tasks, own),
            to_float(random.standard_normal(size)),
            torch.from_numpy(random.integers(0, self.diffusion_steps, (*size[:2], 1))),
        )

    def _reassign(
        self, rows: Array, frames: Frames, scene: SceneFrames, random: np.random.Generator, share: float
    ) -> tuple[Frames, Array, Array]:
        """The frames, a share of them with another instruction; the task of each; and whether it is its own, (B,).

        Of another instruction only the action in the present state is known, which the chunk repeats.
        """
        count = np.arange(len(rows))
        other, which = random.random(len(rows)) < share, random.integers(0, scene.tasks.shape[1], len(rows))
        tasks = self.demos.labels["task"][rows]
        known = np.arange(frames.mask.shape[1]) == 0
        actions = np.where(other[:, None, None], scene.actions[count, which][:, None], frames.actions)
        reassigned = replace(
            frames,
            instruction=np.where(other, scene.instructions[count, which], frames.instruction),
            actions=actions.astype(np.float64),
            mask=np.where(other[:, None], known, frames.mask),
        )
        return reassigned, np.where(other, scene.tasks[count, which], tasks), ~other

    def _labels(self, frames: Frames, scene: SceneFrames, tasks: Array, own: Array) -> OctoLabels:
        roles = self.roles[tasks]
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
            own=to_float(own),
            roles=torch.from_numpy(roles),
            actions=to_float(self.scale.normalise(frames.actions)),
            mask=to_float(frames.mask),
        )
