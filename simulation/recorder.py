"""A listener that collects the content of a stored episode."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simulation.contracts import EpisodeResult, Floats, Listener, StartState, StepRecord


@dataclass
class Recording:
    """`states` has one more entry than `actions`: the start, then the state after each action. `between` has the
    positions on the way to each (contracts.StepRecord).
    """

    states: list[StartState] = field(default_factory=list)
    actions: list[Floats] = field(default_factory=list)
    between: list[Floats] = field(default_factory=list)
    result: EpisodeResult | None = None

    def rows(self) -> Floats:
        """Positions (5 steps + 1, nq) every 40 ms, from the start on."""
        return np.concatenate([self.states[0].qpos[None], *self.between])


class Recorder(Listener):
    """Fills `recording` with the present rollout."""

    def __init__(self) -> None:
        self.recording = Recording()

    def on_start(self, start: StartState) -> None:
        self.recording = Recording(states=[start])

    def on_step(self, record: StepRecord) -> None:
        self.recording.actions.append(record.action)
        self.recording.states.append(record.state)
        self.recording.between.append(record.between)

    def on_end(self, result: EpisodeResult) -> None:
        self.recording.result = result
