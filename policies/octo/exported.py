"""A small Octo as a policy without torch (`policies.exported`)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from policies.base import PolicyCard, PolicySpec
from policies.exported import Weights, open_session, read_weights
from policies.octo.graph import LOWEST, octo_graphs
from policies.octo.noise import TorchNoise
from policies.octo.parts import OctoParts, read_parts
from policies.octo.scale import fit
from policies.onnx_layers import Array
from simulation.contracts import Floats, Observation

KNOWN_TEXTS = 16


class ExportedOctoPolicy:
    """Acts as `octo.policy.OctoPolicy` does, up to rounding, with the noise that torch draws from the same seed."""

    def __init__(self, spec: PolicySpec, parts: OctoParts, weights: Weights) -> None:
        self.spec, self._parts, self._head = spec, parts, parts.config.head
        self._text, self._action = map(open_session, octo_graphs(parts.config, weights))
        self._camera, (self._seen_by,) = spec.cameras[0].array_spec(), parts.config.cameras
        self._encode = lru_cache(KNOWN_TEXTS)(self._remember)
        self._noise = TorchNoise(0)
        self.parameters = sum(array.size for array in weights.values())
        self.weights_bytes = sum(array.nbytes for array in weights.values())

    def reset(self, instruction: str, seed: int) -> None:
        """`seed` decides the noise of the whole rollout."""
        self._encode(instruction)
        self._noise = TorchNoise(seed)

    def infer(self, observation: Observation) -> Floats:
        """float64 (horizon, 7): m, rad, gripper 0..1."""
        image = observation.images[self.spec.cameras[0].name]
        self._camera.check(image)
        picture = fit(image, self._seen_by).transpose(2, 0, 1)[None].astype(np.float32) / np.float32(127.5) - 1
        first, later = self._draw()
        fed = {"picture": picture, "memory": self._encode(observation.instruction), "first": first, "later": later}
        (found,) = self._action.run(None, fed)
        actions = self._parts.scale.unnormalise(found.reshape(self._head.horizon, -1).astype(np.float64))
        actions[..., -1] = actions[..., -1].clip(0.0, 1.0)
        return actions

    def close(self) -> None:
        self._encode.cache_clear()

    def _draw(self) -> tuple[Array, Array]:
        """The head's noise, (1, A) and (steps, A)."""
        size = self._head.horizon * self._head.action_dim
        if not self._parts.temperature:
            return np.zeros((1, size), np.float32), np.zeros((self._head.steps, size), np.float32)
        factor = np.float32(self._parts.temperature)
        return self._noise.draw(1, size) * factor, self._noise.draw(self._head.steps, size) * factor

    def _remember(self, instruction: str) -> Array:
        """The text's keys and values in all layers."""
        (ids,), (present,) = self._parts.text.encode(instruction)
        hidden = np.where(present, 0, LOWEST).astype(np.float32)
        memory: Array = self._text.run(None, {"ids": ids, "hidden": hidden})[0]
        return memory


def open_exported_octo(folder: Path, card: PolicyCard) -> ExportedOctoPolicy:
    """Raises whatever a folder that is not as expected makes it raise."""
    return ExportedOctoPolicy(card.spec, read_parts(folder, card), read_weights(folder))
