"""Octo as a policy. Opens published folders and those that this project trained."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from policies import checkpoints, devices, flax_checkpoint
from policies.base import PolicyCard, PolicySpec
from policies.networks.octo import Octo
from policies.networks.octo_fast import FastOcto, TextMemory
from policies.octo.parts import read_parts
from policies.octo.scale import StandardScale, fit
from policies.octo.text import TextTokenizer
from policies.published import OCTO
from simulation.contracts import Floats, Observation

BEST_BATCH = 8
KNOWN_TEXTS = 16  # an instruction's keys and values in all layers of octo-base take 2 MB


@dataclass
class OctoState:
    """The frames of the window, each camera -> its tokens (tokens, dim), and the generator of the rollout's noise."""

    frames: deque[dict[str, Tensor]]
    noise: torch.Generator


class OctoPolicy:
    """Keeps encoded instructions, and an OctoState per rollout."""

    best_batch = BEST_BATCH

    def __init__(
        self, spec: PolicySpec, network: Octo, text: TextTokenizer, scale: StandardScale, temperature: float = 1.0
    ) -> None:
        """`temperature`: the factor of the head's noise. 1 draws as published; 0 gives one action from the middle."""
        self.spec, self.network, self.text, self.scale = spec, network, text, scale
        self.temperature = temperature
        self.config = network.config
        # The spec lists the arena's cameras in the order of the network's, without those that the arena lacks.
        self._cameras = list(zip(self.config.cameras, spec.cameras, strict=False))
        self._fast = FastOcto(network, [camera.name for camera, _ in self._cameras])
        self._encode = lru_cache(KNOWN_TEXTS)(self._remember)
        self._own = self._start(0)

    def reset(self, instruction: str, seed: int) -> None:
        """Forget the frames; `seed` decides the noise of the whole rollout."""
        self._own = self.begin(instruction, seed)

    def infer(self, observation: Observation) -> Floats:
        """float64 (horizon, 7): m, rad, gripper 0..1."""
        return self.infer_batch([observation], [self._own])[0]

    def begin(self, instruction: str, seed: int) -> OctoState:
        """`seed` decides the noise of the whole rollout."""
        self._encode(instruction)
        return self._start(seed)

    def infer_batch(self, observations: Sequence[Observation], states: Sequence[OctoState]) -> list[Floats]:
        """Each float64 (horizon, 7): m, rad, gripper 0..1."""
        for observation in observations:
            for _, wanted in self._cameras:
                wanted.array_spec().check(observation.images[wanted.name])
        texts = [self._encode(observation.instruction) for observation in observations]
        for state, frame in zip(states, self._look(observations), strict=True):
            state.frames.append(frame)
        actions = self._predict(states, texts)
        actions[..., -1] = actions[..., -1].clip(0.0, 1.0)
        return list(actions)

    def close(self) -> None:
        self._own.frames.clear()
        self._encode.cache_clear()

    def _start(self, seed: int) -> OctoState:
        return OctoState(deque(maxlen=self.config.window), torch.Generator().manual_seed(seed))

    def _look(self, observations: Sequence[Observation]) -> list[dict[str, Tensor]]:
        """Per observation, camera -> its picture's tokens."""
        tokens = {}
        for camera, wanted in self._cameras:
            pictures = [fit(observation.images[wanted.name], camera) for observation in observations]
            tokens[camera.name] = self._fast.look(camera.name, torch.from_numpy(np.stack(pictures)))
        return [{name: rows[index] for name, rows in tokens.items()} for index in range(len(observations))]

    def _predict(self, states: Sequence[OctoState], texts: Sequence[TextMemory]) -> Floats:
        """A draw of (B, horizon, 7). A short window is filled with its first frame, marked as padding."""
        missing = [self.config.window - len(state.frames) for state in states]
        windows = [[state.frames[0]] * gap + list(state.frames) for gap, state in zip(missing, states, strict=True)]
        frames = {
            camera.name: torch.stack([torch.stack([frame[camera.name] for frame in window]) for window in windows])
            for camera, _ in self._cameras
        }
        first, later = self._draw(states)
        actions = self._fast.sample(frames, torch.tensor(missing), texts, first, later)
        return self.scale.unnormalise(actions.double().cpu().numpy())

    def _draw(self, states: Sequence[OctoState]) -> tuple[Tensor, Tensor]:
        """Noise (B, A) and (steps, B, A), drawn on the CPU so that a seed means the same for every device.

        The head draws for every frame of the window, as published, and uses the last one's.
        """
        head, window = self.config.head, self.config.window
        size = (window, head.horizon * head.action_dim)
        first = [torch.randn(size, generator=state.noise)[-1] for state in states]
        later = [torch.randn((head.steps, *size), generator=state.noise)[:, -1] for state in states]
        return torch.stack(first) * self.temperature, torch.stack(later, 1) * self.temperature

    @torch.inference_mode()
    def _remember(self, instruction: str) -> TextMemory:
        """Encode the text with T5 and the transformer, once per instruction."""
        ids, present = self.text.encode(instruction)
        device = self._fast.device
        known = self.network.encode_text(torch.from_numpy(ids).to(device), torch.from_numpy(present).to(device))
        return self._fast.remember(known[0])


def open_octo(folder: Path, card: PolicyCard, device: str | None) -> OctoPolicy:
    """Open a folder whose card has been read. Raises a PolicyError naming the file, field, key or tensor at fault."""
    parts = read_parts(folder, card)
    network = checkpoints.build(lambda: Octo(parts.config))
    target, dtype = checkpoints.default_device(device, OCTO)
    if dtype == torch.float32:
        devices.exact_float32()
    checkpoints.load(network, flax_checkpoint.find_tensors(folder), target, dtype)
    return OctoPolicy(card.spec, network, parts.text, parts.scale, parts.temperature)
