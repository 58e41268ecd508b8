"""Batches for openvla-mini: pictures, the demonstration's instruction and others, and all labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from policies.networks.openvla_sizes import OpenVLAConfig
from policies.openvla.actions import ActionTokens, QuantileScale
from policies.openvla.losses import REACH, ActionLabels, SceneLabels
from policies.openvla.packed import Suffixes
from policies.openvla.prompt import PromptEncoder
from policies.training.batches import FrameOrder, draw_light, to_float
from policies.training.dataset import Demonstrations, Frames, SceneFrames
from policies.transforms import DatasetStatistics
from simulation.contracts import ACTION_DIM


@dataclass(frozen=True)
class OpenVLABatch:
    pixels: Tensor  # float32 (B, 3, H, W), about -1..1
    suffixes: Suffixes
    scene: SceneLabels
    actions: ActionLabels


class OpenVLABatchMaker:
    """`make(step)` returns the batch of that step, the same for the same demonstrations, order and sizes."""

    def __init__(
        self,
        demos: Demonstrations,
        statistics: DatasetStatistics,
        scale: QuantileScale,
        prompts: PromptEncoder,
        config: OpenVLAConfig,
        order: FrameOrder,
    ) -> None:
        self.demos, self.statistics, self.scale, self.config = demos, statistics, scale, config
        self.order, self.roles, self.codes = order, demos.roles(), ActionTokens(config)
        self._ids = [prompts.encode(wording, ACTION_DIM)[1:] for wording in demos.wordings]  # without BOS

    def make(self, step: int) -> OpenVLABatch:
        rows = self.order.rows(step)
        frames, scene = self.demos.read(rows), self.demos.read_scene(rows)
        pixels = torch.from_numpy(frames.images).permute(0, 3, 1, 2).float() / 127.5 - 1
        light = draw_light(len(rows), self.order.random(step))
        gain, offset = (to_float(colours[:, :, None, None]) for colours in light)
        tasks = np.concatenate([self.demos.labels["task"][rows][:, None], scene.tasks], 1)
        roles = self.roles[tasks]
        suffixes, actions = self._language(frames, scene, roles)
        return OpenVLABatch(pixels * gain + offset, suffixes, self._scene(frames, scene, roles[:, 0, 0]), actions)

    def _language(self, frames: Frames, scene: SceneFrames, roles: NDArray[np.int64]) -> tuple[Suffixes, ActionLabels]:
        moves = np.concatenate([frames.actions[:, :1], scene.actions], 1)  # (B, K, 7)
        moves = self.scale.normalise(moves.astype(np.float64))
        ids = self.codes.encode(moves)
        texts = np.concatenate([frames.instruction[:, None], scene.instructions], 1)
        prompts = [self._ids[number] for number in texts.flat]
        longest = max(map(len, prompts)) + ACTION_DIM - 1
        packed = np.zeros((len(prompts), longest), np.int64)
        for row, prompt, answer in zip(packed, prompts, ids.reshape(-1, ACTION_DIM), strict=True):
            row[: len(prompt)] = prompt
            row[len(prompt) : len(prompt) + ACTION_DIM - 1] = answer[:-1]
        ends = np.array([len(prompt) - 1 for prompt in prompts]).reshape(texts.shape)
        answers = ends[..., None] + np.arange(ACTION_DIM)
        suffixes = Suffixes(torch.from_numpy(packed).view(*texts.shape, -1), torch.from_numpy(answers))
        digits = torch.from_numpy(self.config.base_vocabulary - ids)
        return suffixes, ActionLabels(digits, torch.from_numpy(moves).float(), torch.from_numpy(roles))

    def _scene(self, frames: Frames, scene: SceneFrames, named: NDArray[np.int64]) -> SceneLabels:
        side = round(self.config.patches**0.5)
        spots = np.concatenate([scene.things_pixels, frames.pixels[:, 2:]], 1)  # the tool last
        inside: NDArray[np.bool_] = np.all((spots >= 0) & (spots < 1), -1)
        cells = np.floor(np.where(inside[..., None], spots, 0) * side).astype(np.int64)
        tool = frames.proprioception[:, None, :3]
        middle = self.statistics.place_mean
        vectors = np.concatenate([scene.things_points - tool, tool - middle], 1) / REACH
        return SceneLabels(
            cells=torch.from_numpy(np.where(inside, cells[..., 1] * side + cells[..., 0], -1)),
            offsets=to_float(spots * side - cells - 0.5),
            vectors=to_float(vectors),
            named=torch.from_numpy(named),
            turn=to_float(frames.yaw),
            held=to_float(frames.held),
            arm=to_float(self.statistics.normalise_proprioception(frames.proprioception)),
        )
