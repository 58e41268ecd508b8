"""Statistics of features, per episode and of all episodes, as the format has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
Values = NDArray[np.float64]
Statistics = dict[str, Values]


def of_vector(column: NDArray[Any]) -> Statistics:
    """Of (frames,) or (frames, numbers), along the frames."""
    values = column.astype(np.float64).reshape(len(column), -1)
    quantiles = np.quantile(values, list(QUANTILES.values()), axis=0)
    return {
        "min": values.min(axis=0),
        "max": values.max(axis=0),
        "mean": values.mean(axis=0),
        "std": values.std(axis=0),
        "count": np.array([len(values)]),
        **dict(zip(QUANTILES, quantiles, strict=True)),
    }


def of_pictures(frames: NDArray[np.uint8]) -> Statistics:
    """Of (frames, height, width, 3), per channel in 0 to 1, each of the shape (3, 1, 1)."""
    found = of_vector(frames.reshape(-1, 3) / 255.0)
    count = np.array([len(frames)])
    return {name: count if name == "count" else value.reshape(3, 1, 1) for name, value in found.items()}


@dataclass
class Together:
    """Statistics of all episodes: exact, but for quantiles, which are the episodes' own, averaged by their frames."""

    _sums: dict[str, Statistics] = field(default_factory=dict)

    def add(self, episode: Mapping[str, Statistics]) -> None:
        for name, mine in episode.items():
            theirs = self._sums.get(name)
            self._sums[name] = dict(mine) if theirs is None else _merged(theirs, mine)

    def as_json(self) -> dict[str, dict[str, Any]]:
        return {name: as_lists(each) for name, each in self._sums.items()}


def as_lists(statistics: Mapping[str, Values]) -> dict[str, Any]:
    return {name: value.tolist() for name, value in statistics.items()}


def _merged(one: Statistics, other: Statistics) -> Statistics:
    count = one["count"] + other["count"]
    share = float(other["count"][0] / count[0])
    apart = other["mean"] - one["mean"]
    variance = (1 - share) * one["std"] ** 2 + share * other["std"] ** 2 + share * (1 - share) * apart**2
    return {
        "min": np.minimum(one["min"], other["min"]),
        "max": np.maximum(one["max"], other["max"]),
        "mean": one["mean"] + share * apart,
        "std": np.sqrt(variance),
        "count": count,
        **{name: (1 - share) * one[name] + share * other[name] for name in QUANTILES},
    }
