"""A listener that collects the content of a stored episode."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulation.contracts import EpisodeResult, Floats, Listener, StartState, StepRecord
from simulation.view_format import rows_of


@dataclass
class Recording:
    """`states` has one more entry than `actions`: the start, then the state after each action. `between` has the
    positions on the way to each (contracts.StepRecord).
    """

    states: list[StartState] = field(default_factory=list)
    actions: list[Floats] = field(default_factory=list)
    between: list[Floats] = field(default_factory=list)
    result: EpisodeResult | None = None

    def rows(self, control_hz: int) -> Floats:
        """Positions (n, nq) every 40 ms, from the start to the end (simulation.view_format)."""
        return rows_of(self.states[0].qpos, self.between, self.states[-1].qpos, control_hz)


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
