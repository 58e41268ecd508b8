"""Octo as a policy: last frames and an instruction in, a chunk of actions out. Opens published folders and our own."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from policies import checkpoints, flax_checkpoint
from policies.base import BadCard, PolicyCard, PolicySpec
from policies.folder import CARD, STATISTICS, TOKENIZER, WEIGHTS, check_listed, read_json
from policies.networks.octo import CameraConfig, Octo, OctoConfig, OctoObservation, OctoTask
from policies.octo.config import read_config
from policies.octo.shapes import read_shapes
from policies.octo.text import TextEncoder
from policies.statistics import choose, mask, vector
from policies.text import read_tokenizer
from simulation.contracts import ACTION_DIM, Observation
from simulation.contracts import Image as Picture

CONFIG = "config.json"
STATISTICS_KEY = "bridge_dataset"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ActionScale:
    """Mean and deviation of the unmasked dimensions; a masked one passes as it is."""

    mean: Floats
    deviation: Floats
    mask: NDArray[np.bool_]

    @classmethod
    def from_statistics(cls, action: Mapping[str, Any], length: int = ACTION_DIM) -> ActionScale:
        return cls(vector(action, "mean", length), vector(action, "std", length), mask(action, length))

    def unnormalise(self, actions: Floats) -> Floats:
        """(..., 7) normalised -> (..., 7) in m, rad; the gripper is masked and stays."""
        return np.where(self.mask, actions * self.deviation + self.mean, actions)

    def normalise(self, actions: Floats) -> Floats:
        """The inverse, for training."""
        return np.where(self.mask, (actions - self.mean) / (self.deviation + 1e-8), actions)


class OctoPolicy:
    """Keeps the frames of its window, the encoded instruction, and the generator of its noise."""

    def __init__(self, spec: PolicySpec, network: Octo, text: TextEncoder, scale: ActionScale) -> None:
        self.spec, self.network, self.text, self.scale = spec, network, text, scale
        self.config = network.config
        # The spec lists the arena's cameras in the order of the network's; one that the arena lacks is left out.
        self._cameras = list(zip(self.config.cameras, spec.cameras, strict=False))
        self._frames: deque[dict[str, Picture]] = deque(maxlen=self.config.window)
        self._noise = torch.Generator()
        self._encoded: tuple[str, Tensor] | None = None
        self._device = network.heads_action.diffusion_model.time_preprocess.kernel.device

    def reset(self, instruction: str, seed: int) -> None:
        """Forget the frames; `seed` decides the noise of the whole rollout. Raises InstructionTooLong."""
        self._frames.clear()
        self._noise.manual_seed(seed)
        self._encode(instruction)

    def infer(self, observation: Observation) -> Floats:
        """float64 (horizon, 7): m, rad, gripper 0..1."""
        frame = {}
        for camera, wanted in self._cameras:
            wanted.array_spec().check(observation.images[wanted.name])
            frame[camera.name] = fit(observation.images[wanted.name], camera)
        self._frames.append(frame)
        actions = self.predict(self.window(), self._encode(observation.instruction))
        return np.concatenate([actions[:, :-1], actions[:, -1:].clip(0.0, 1.0)], 1)

    def close(self) -> None:
        self._frames.clear()
        self._encoded = None

    def window(self) -> OctoObservation:
        """The last frames; what is missing at the start repeats the first one and is marked as padding."""
        missing = self.config.window - len(self._frames)
        frames = [self._frames[0]] * missing + list(self._frames)
        images = {
            camera.name: torch.from_numpy(np.stack([frame[camera.name] for frame in frames]))[None].to(self._device)
            for camera, _ in self._cameras
        }
        shown = torch.arange(self.config.window, device=self._device) >= missing
        return OctoObservation(images, shown[None])

    @torch.inference_mode()
    def predict(self, observation: OctoObservation, text: Tensor) -> Floats:
        """One draw of (horizon, 7). The noise comes from the CPU: a seed means the same on every device."""
        head = self.config.head
        size = (1, observation.timestep_mask.shape[1], head.horizon * head.action_dim)
        first = torch.randn(size, generator=self._noise).to(self._device)
        later = torch.randn((head.steps, *size), generator=self._noise).to(self._device)
        actions = self.network.sample(self.network(observation, OctoTask(text)), first, later)[0]
        return self.scale.unnormalise(actions.double().cpu().numpy())

    @torch.inference_mode()
    def _encode(self, instruction: str) -> Tensor:
        """T5 runs once per instruction."""
        if self._encoded is None or self._encoded[0] != instruction:
            ids, present = self.text.encode(instruction)
            self._encoded = instruction, self.network.encode_text(ids.to(self._device), present.to(self._device))
        return self._encoded[1]


def fit(picture: Picture, camera: CameraConfig) -> Picture:
    """A picture at the size that the camera's tokenizer takes, smoothed with Lanczos as the training data was."""
    if picture.shape[:2] == (camera.height, camera.width):
        return picture
    return np.asarray(Image.fromarray(picture).resize((camera.width, camera.height), Image.Resampling.LANCZOS))


def open_octo(folder: Path, card: PolicyCard, device: str | None) -> OctoPolicy:
    """Open a folder whose card has been read. Raises a PolicyError naming the file, field, key or tensor at fault."""
    if (folder / CARD).is_file():
        check_listed(folder, required=(CONFIG, STATISTICS, TOKENIZER, WEIGHTS))
    data = read_json(folder, CONFIG)
    config = read_config(data, read_shapes(folder, data))
    if config.head.action_dim != ACTION_DIM:
        raise BadCard(f"{CONFIG}: actions of {config.head.action_dim} numbers; the arena's have {ACTION_DIM}")
    _, action = choose(read_json(folder, STATISTICS), card.spec.statistics_key or None, STATISTICS_KEY)
    scale = ActionScale.from_statistics(action)
    if len(card.spec.cameras) > len(config.cameras):
        raise BadCard(f"policy.json: {len(card.spec.cameras)} cameras; the network has {len(config.cameras)}")
    tokenizer = read_tokenizer(folder / TOKENIZER, config.text.encoder.vocabulary)
    network = load_network(folder, config, device)
    return OctoPolicy(card.spec, network, TextEncoder(tokenizer, config.text), scale)


def load_network(folder: Path, config: OctoConfig, device: str | None = None) -> Octo:
    """From model.safetensors where there is one (a converted or own folder), else from the flax checkpoint."""
    network = checkpoints.build(lambda: Octo(config))
    if (folder / WEIGHTS).is_file():
        stored = checkpoints.find_safetensors(folder)
    else:
        stored = flax_checkpoint.read_header(flax_checkpoint.find_checkpoint(folder))
    checkpoints.load(network, stored, *checkpoints.default_device(device))
    return network
