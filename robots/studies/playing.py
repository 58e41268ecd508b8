"""Pairs of episodes: both policies play the same case, one after the other, from the same first state."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np

from robots.evaluation import Case, EvaluationRun, opened
from robots.players import Player
from simulation.contracts import Floats, Limits, Listener, PolicyFailure, StartState, StepRecord
from simulation.environment import Environment

FAILED = "policy_failed"
SHOWN_EVERY = 5
"""Control steps from one kept position to the next."""


@dataclass(frozen=True)
class Outcome:
    """One side. `ended`: the reason of the end, or "policy_failed" with `error`. `shown`: positions in base64, float32
    (n, nq): the start, every fifth step and the end."""

    success: bool
    progress: float
    steps: int
    ended: str
    infer_ms: float
    shown: str
    error: str = ""

    def rows(self, nq: int) -> Floats:
        """(n, nq)."""
        numbers = np.frombuffer(base64.b64decode(self.shown), "<f4")
        return numbers.reshape(-1, nq).astype(np.float64)


@dataclass(frozen=True)
class Pair:
    """What both sides did in a case. `name` is unique in a study."""

    name: str
    group: str
    instruction: str
    seed: int
    variant: str
    a: Outcome
    b: Outcome

    @property
    def failed(self) -> bool:
        return FAILED in (self.a.ended, self.b.ended)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Self:
        """Raises TypeError and KeyError for anything but what `to_json` wrote."""
        return cls(**{**row, "a": Outcome(**row["a"]), "b": Outcome(**row["b"])})


@dataclass
class _Shown(Listener):
    rows: list[Floats] = field(default_factory=list)
    last: Floats | None = None
    steps: int = 0
    infer_s: float = 0.0

    def on_start(self, start: StartState) -> None:
        self.rows.append(start.qpos)

    def on_step(self, record: StepRecord) -> None:
        self.steps += 1
        self.infer_s += record.infer_s
        self.last = record.state.qpos
        if self.steps % SHOWN_EVERY == 0:
            self.rows.append(self.last)

    def told(self) -> str:
        ending = [] if self.last is None or self.steps % SHOWN_EVERY == 0 else [self.last]
        return base64.b64encode(np.array([*self.rows, *ending], "<f4").tobytes()).decode()


def play_pair(a: EvaluationRun, b: EvaluationRun, case: Case) -> Pair:
    """A policy that fails has not reached the goal."""
    return pair_of(case, _play(a, case), _play(b, case))


def pair_of(case: Case, a: Outcome, b: Outcome) -> Pair:
    return Pair(case.name, case.group, case.instruction, case.seed, case.variation.variant, a, b)


def _play(run: EvaluationRun, case: Case) -> Outcome:
    environment, player = opened(run, case.variation.variant)
    try:
        return play_case(environment, player, case)
    finally:
        player.rest()


def play_case(
    environment: Environment,
    player: Player,
    case: Case,
    listeners: Sequence[Listener] = (),
    limits: Limits | None = None,
) -> Outcome:
    """One side's episode from the case's first state. A failure of the policy is an outcome, too."""
    environment.reset(case.seed, case.variation)
    seen = _Shown()
    try:
        played = player.play(environment, case.instruction, case.seed, [seen, *listeners], limits)
    except PolicyFailure as failure:
        return Outcome(False, 0.0, seen.steps, FAILED, seen.infer_s * 1e3, seen.told(), failure.reason)
    return Outcome(
        success=played.success is True,
        progress=float(played.progress or 0.0),
        steps=played.steps,
        ended=played.termination_reason,
        infer_ms=round(played.infer_ms, 1),
        shown=seen.told(),
    )
