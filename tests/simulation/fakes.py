"""Small policies that behave or misbehave in one known way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulation.contracts import EpisodeResult, Floats, Listener, Observation, StartState, StepRecord


class FakePolicy:
    """Answers whatever the given function makes of the observation; remembers what it was shown."""

    def __init__(self, answer: Callable[[Observation], Floats]) -> None:
        self.answer = answer
        self.seen: list[Observation] = []
        self.instruction = ""

    def reset(self, instruction: str, seed: int) -> None:
        self.instruction = instruction

    def infer(self, observation: Observation) -> Floats:
        self.seen.append(observation)
        return self.answer(observation)

    def close(self) -> None:
        pass


def still(rows: int = 1) -> Floats:
    """Actions that hold still with the gripper open, (rows, 7)."""
    return np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (rows, 1))


class Diary(Listener):
    """Notes the order of what it is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.records: list[StepRecord] = []

    def on_start(self, start: StartState) -> None:
        self.notes.append("start")

    def on_step(self, record: StepRecord) -> None:
        self.notes.append("step")
        self.records.append(record)

    def on_end(self, result: EpisodeResult) -> None:
        self.notes.append("end")
