"""A small OpenVLA as a policy without torch (`policies.exported`)."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np

from policies.base import PolicyCard, PolicySpec
from policies.exported import Weights, open_session, read_weights
from policies.onnx_layers import Array
from policies.openvla.actions import ActionTokens
from policies.openvla.graph import causal_bias, openvla_graph, rotary_tables
from policies.openvla.parts import OpenVLAParts, read_parts
from simulation.contracts import ACTION_DIM, Floats, Observation, grippers

KNOWN_PROMPTS = 64
KNOWN_LENGTHS = 8  # a prompt of 100 places takes 40 kB of what is added to its scores


class ExportedOpenVLAPolicy:
    """Acts as `openvla.policy.OpenVLAPolicy` does, but where two tokens are as likely up to rounding."""

    def __init__(self, spec: PolicySpec, parts: OpenVLAParts, weights: Weights) -> None:
        self.spec, self._parts, self._config = spec, parts, parts.config
        self._session = open_session(openvla_graph(parts.config, weights, ACTION_DIM))
        self._tokens, self._camera = ActionTokens(parts.config), spec.cameras[0].array_spec()
        self._encode = lru_cache(KNOWN_PROMPTS)(self._ids)
        self._places = lru_cache(KNOWN_LENGTHS)(self._tables)
        self.parameters = sum(array.size for array in weights.values())
        self.weights_bytes = sum(array.nbytes for array in weights.values())

    def reset(self, instruction: str, seed: int) -> None:
        """`seed` is not used: decoding is greedy."""
        self._encode(instruction)

    def infer(self, observation: Observation) -> Floats:
        """float64 (1, 7) in the robot's action space."""
        image = observation.images[self.spec.cameras[0].name]
        self._camera.check(image)
        ids = self._encode(observation.instruction)
        fed = {"pixels": self._parts.images(image)[None], "ids": ids, **self._places(len(ids) + self._config.patches)}
        (tokens,) = self._session.run(None, fed)
        actions = self._parts.scale.unnormalise(self._tokens.decode(tokens))[None]
        actions[:, -1] = grippers(self.spec.action_space, actions[:, -1])
        return actions

    def close(self) -> None:
        self._encode.cache_clear()
        self._places.cache_clear()

    def _ids(self, instruction: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(self._parts.prompts.encode(instruction, ACTION_DIM))

    def _tables(self, places: int) -> dict[str, Array]:
        """What is fed for a prompt of so many places, patches included."""
        cosines, sines = rotary_tables(places + ACTION_DIM - 1, self._config.language)
        return {"cosines": cosines, "sines": sines, "causal": causal_bias(places)}


def open_exported_openvla(folder: Path, card: PolicyCard) -> ExportedOpenVLAPolicy:
    """Raises whatever a folder that is not as expected makes it raise."""
    return ExportedOpenVLAPolicy(card.spec, read_parts(folder, card), read_weights(folder))
