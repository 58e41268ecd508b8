"""Scaling what a robot measures for a network, and back. Pure numpy, so that training and playing agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from policies.base import MissingStatistics
from policies.statistics import finite
from simulation.contracts import ACTION_DIM, PROPRIOCEPTION_DIM

# Smallest spans of one network unit [m, m, m, rad, rad, rad]: a motion that the demonstrations hardly make must not
# become noise.
MIN_ACTION_SCALE = np.array([0.01, 0.01, 0.01, 0.05, 0.05, 0.05])
MIN_PROPRIOCEPTION_STD = 0.02

Array = NDArray[Any]


@dataclass(frozen=True)
class DatasetStatistics:
    """How numbers become network units. Actions: `action_scale` (6,) [m, rad]; the gripper is not scaled.

    Proprioception: `mean`, `std` (8,). Places (xyz of things, base frame): `place_mean`, `place_scale` (3,) [m].
    """

    action_scale: Array
    mean: Array
    std: Array
    place_mean: Array
    place_scale: Array

    def normalise_actions(self, actions: Array) -> Array:
        """(..., 7) in m, rad, 0..1 -> (..., 7) with the six displacements in network units."""
        return np.concatenate([actions[..., :6] / self.action_scale, actions[..., 6:]], -1)

    def unnormalise_actions(self, actions: Array) -> Array:
        return np.concatenate([actions[..., :6] * self.action_scale, actions[..., 6:]], -1)

    def normalise_proprioception(self, values: Array) -> Array:
        return ((values - self.mean) / self.std).astype(np.float32)

    def normalise_places(self, places: Array) -> Array:
        return ((places - self.place_mean) / self.place_scale).astype(np.float32)


def statistics_key(robot_id: str) -> str:
    """Under which dataset_statistics.json holds the numbers of our demonstrations with a robot."""
    return f"arena_{robot_id}"


def measure(robot_id: str, actions: Array, proprioception: Array, places: Array) -> dict[str, Any]:
    """The content of dataset_statistics.json from (N, 7), (N, 8) and (M, 3) arrays.

    `action` keeps the usual keys (mean, std, min, max, q01, q99, mask) and adds `scale`, which our networks use.
    """
    low, high = np.quantile(actions, [0.01, 0.99], axis=0)
    scale = np.maximum(np.maximum(-low, high)[:6], MIN_ACTION_SCALE)
    action = {"mean": actions.mean(0), "std": actions.std(0), "min": actions.min(0), "max": actions.max(0)}
    action |= {"q01": low, "q99": high, "scale": scale}
    content = {
        "action": {key: _list(value) for key, value in action.items()} | {"mask": [True] * 6 + [False]},
        "proprioception": {
            "mean": _list(proprioception.mean(0)),
            "std": _list(np.maximum(proprioception.std(0), MIN_PROPRIOCEPTION_STD)),
        },
        "place": {"mean": _list(places.mean(0)), "scale": _list(np.maximum(places.std(0), MIN_PROPRIOCEPTION_STD))},
        "num_transitions": len(actions),
    }
    return {statistics_key(robot_id): content}


def read_statistics(content: Mapping[str, Any], key: str) -> DatasetStatistics:
    """One data set's numbers. Raises MissingStatistics listing the known keys."""
    if not isinstance(content.get(key), Mapping):
        raise MissingStatistics(f"statistics key {key!r} is missing; known: {', '.join(sorted(content)) or 'none'}")
    chosen = content[key]
    return DatasetStatistics(
        action_scale=_vector(chosen, key, "action", "scale", ACTION_DIM - 1),
        mean=_vector(chosen, key, "proprioception", "mean", PROPRIOCEPTION_DIM),
        std=_vector(chosen, key, "proprioception", "std", PROPRIOCEPTION_DIM),
        place_mean=_vector(chosen, key, "place", "mean", 3),
        place_scale=_vector(chosen, key, "place", "scale", 3),
    )


def _vector(content: Mapping[str, Any], key: str, group: str, name: str, length: int) -> Array:
    numbers = content.get(group)
    if not isinstance(numbers, Mapping) or name not in numbers:
        raise MissingStatistics(f"statistics {key!r}: {group}.{name} is missing")
    return finite(numbers[name], f"statistics {key!r}: {group}.{name}", length)


def _list(values: Array) -> list[float]:
    return [round(float(value), 9) for value in np.asarray(values)]
