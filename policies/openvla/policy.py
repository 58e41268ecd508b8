"""OpenVLA as a policy. Opens published folders and those that this project trained."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from policies import checkpoints
from policies.base import PolicyCard, PolicySpec
from policies.networks.openvla import OpenVLA
from policies.networks.openvla_fast import FastOpenVLA
from policies.openvla.actions import ActionTokens, QuantileScale
from policies.openvla.images import ImageTransform
from policies.openvla.parts import read_parts
from policies.openvla.prompt import PromptEncoder
from policies.published import OPENVLA
from simulation.contracts import ACTION_DIM, Floats, Image, Observation, grippers

BEST_BATCH = 8  # above, computing takes a GPU longer than reading weights, and a CPU well before
KNOWN_PROMPTS = 64


class OpenVLAPolicy:
    """Keeps nothing between steps but encoded instructions. Decoding is greedy, so that a rollout has no state."""

    best_batch = BEST_BATCH

    def __init__(
        self, spec: PolicySpec, network: OpenVLA, prompts: PromptEncoder, images: ImageTransform, scale: QuantileScale
    ) -> None:
        self.spec, self.network, self.prompts, self.images, self.scale = spec, network, prompts, images, scale
        self.tokens = ActionTokens(network.config)
        self._camera = spec.cameras[0].array_spec()
        self._fast = FastOpenVLA(network)
        self._encode = lru_cache(KNOWN_PROMPTS)(lambda instruction: tuple(prompts.encode(instruction, ACTION_DIM)))

    def reset(self, instruction: str, seed: int) -> None:
        """`seed` is not used: decoding is greedy."""
        self.begin(instruction, seed)

    def infer(self, observation: Observation) -> Floats:
        """float64 (1, 7) in the robot's action space."""
        return self.infer_batch([observation], [None])[0]

    def begin(self, instruction: str, seed: int) -> None:
        self._encode(instruction)

    def infer_batch(self, observations: Sequence[Observation], states: Sequence[None]) -> list[Floats]:
        """Each float64 (1, 7) in the robot's action space."""
        images = [observation.images[self.spec.cameras[0].name] for observation in observations]
        for image in images:
            self._camera.check(image)
        actions = self.predict(images, [self._encode(observation.instruction) for observation in observations])
        actions[:, -1] = grippers(self.spec.action_space, actions[:, -1])
        return [action[None] for action in actions]

    def close(self) -> None:
        self._encode.cache_clear()

    def predict(self, images: Sequence[Image], prompts: Sequence[Sequence[int]]) -> Floats:
        """Actions (B, 7) of B pictures uint8 (H, W, 3) with their prompts' ids, in one pass."""
        pixels = torch.from_numpy(np.stack([self.images(image) for image in images]))
        tokens = self._fast.generate(prompts, pixels, ACTION_DIM)
        return self.scale.unnormalise(self.tokens.decode(tokens.cpu().numpy()))


def open_openvla(folder: Path, card: PolicyCard, device: str | None) -> OpenVLAPolicy:
    """Open a folder whose card has been read. Raises a PolicyError naming the file, field, key or tensor at fault."""
    parts = read_parts(folder, card)
    network = checkpoints.build(lambda: OpenVLA(parts.config))
    checkpoints.load(network, checkpoints.find_safetensors(folder), *checkpoints.default_device(device, OPENVLA))
    return OpenVLAPolicy(card.spec, network, parts.prompts, parts.images, parts.scale)
