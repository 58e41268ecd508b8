"""Recorded episodes as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Exact:
    """What the vote reveals. `actions` (steps, n), `qvel` (steps + 1, nv); `outcome`: success, progress and more."""

    actions: Floats
    qvel: Floats
    outcome: Mapping[str, Any]


@dataclass(frozen=True)
class Episode:
    """One side of a turn. `time` (rows,) [s] and `qpos` (rows, nq) in MuJoCo's units: rounded before the vote, one row
    every 40 ms; afterwards exact, one row per control step. `exact` is None before the vote."""

    episode_id: str
    instruction: str
    time: Floats
    qpos: Floats
    exact: Exact | None

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        states = document["states"]
        exact = None
        if document["exact"]:
            exact = Exact(
                actions=np.array(document["actions"], np.float64),
                qvel=np.array([state["qvel"] for state in states], np.float64),
                outcome=document["outcome"],
            )
        return cls(
            episode_id=document["episode_id"],
            instruction=document["instruction"],
            time=np.array([state["time"] for state in states], np.float64),
            qpos=np.array([state["qpos"] for state in states], np.float64),
            exact=exact,
        )
