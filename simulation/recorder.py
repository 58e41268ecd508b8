"""A listener that keeps what a stored episode is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from simulation.contracts import BaseListener, EpisodeResult, Floats, StartState, StepRecord


@dataclass
class Recording:
    """`states` has one more entry than `actions`: the start, then the state after each action."""

    states: list[StartState] = field(default_factory=list)
    actions: list[Floats] = field(default_factory=list)
    result: EpisodeResult | None = None


class Recorder(BaseListener):
    """Fills `recording`; start it anew for each rollout."""

    def __init__(self) -> None:
        self.recording = Recording()

    def on_start(self, start: StartState) -> None:
        self.recording = Recording(states=[start])

    def on_step(self, record: StepRecord) -> None:
        self.recording.actions.append(record.action)
        self.recording.states.append(record.state)

    def on_end(self, result: EpisodeResult) -> None:
        self.recording.result = result
