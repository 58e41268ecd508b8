"""Playing chunks of actions, the same for every policy: execute the first n, or average overlapping predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from simulation.contracts import ArraySpec, Chunking, Floats, PolicyFailure, SpecError


class ChunkPlayer:
    """Infers only when a chunk is needed, and returns one action per step.

    `actions`: what a chunk of the robot is. `longest`: the most actions that it may have.
    """

    def __init__(self, chunking: Chunking, infer: Callable[[], Floats], actions: ArraySpec, longest: int) -> None:
        self._actions = actions
        self._longest = longest
        self._chunking = chunking
        self._infer = infer
        self._chunks: list[tuple[int, Floats]] = []
        self._step = 0

    def next(self) -> Floats:
        """The action (n,) for this step. Raises PolicyFailure for a chunk that cannot be played."""
        if self._needs_chunk():
            chunk = checked_chunk(self._infer(), self._actions, self._longest)
            self._chunks = [*self._chunks, (self._step, chunk)] if self._chunking.ensemble else [(self._step, chunk)]
        self._chunks = [(born, chunk) for born, chunk in self._chunks if self._step - born < len(chunk)]
        action = self._average() if self._chunking.ensemble else self._chunks[0][1][self._step - self._chunks[0][0]]
        self._step += 1
        return action

    def _needs_chunk(self) -> bool:
        if self._chunking.ensemble or not self._chunks:
            return True
        born, chunk = self._chunks[-1]
        return self._step - born >= min(self._chunking.execute, len(chunk))

    def _average(self) -> Floats:
        ages = np.array([self._step - born for born, _ in self._chunks])
        weights = cast(float, self._chunking.ensemble) ** ages
        actions = np.array([chunk[self._step - born] for born, chunk in self._chunks])
        return cast(Floats, weights @ actions / weights.sum())


def checked_chunk(chunk: Floats, actions: ArraySpec, longest: int) -> Floats:
    """The chunk. Raises PolicyFailure unless it is as declared and has 1..longest rows."""
    try:
        actions.check(chunk)
    except SpecError as error:
        raise PolicyFailure(str(error)) from error
    if not 1 <= len(chunk) <= longest:
        raise PolicyFailure(f"actions: expected 1..{longest} rows, got {len(chunk)}")
    return chunk
