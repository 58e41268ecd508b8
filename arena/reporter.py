"""Telling how far a rollout is while it runs, from a thread beside the loop: the loop never waits for a database."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from types import TracebackType

from django.db import DatabaseError, InterfaceError, connection

from arena import actions
from arena.models import Rollout
from arena.patience import drop_broken_connection, patiently
from simulation.contracts import BaseListener, SimulationError, StartState, StepRecord

log = logging.getLogger(__name__)

REPORT_S = 0.1  # a step is to be on a screen within 0.2 s
HEARTBEAT_S = 2.0
DECIMALS = 5  # of live frames: a hundredth of a millimetre is more than a live picture shows
Report = Callable[[Rollout, int, int, list[list[float]]], bool]


class AttemptGivenUp(SimulationError):
    """Another attempt has taken this one's place: whatever it would still find out is of no use."""

    code = "attempt_given_up"


class Reporter(BaseListener):
    """A listener, and a context that runs as long as the rollout does.

    It reports new steps at most every REPORT_S, and every HEARTBEAT_S that the attempt is alive, however long a policy
    thinks. When the attempt was given up meanwhile, the next step raises AttemptGivenUp. At the end it passes on the
    last steps; that they were played is said with the rollout's end, or, where that is an error, by itself.
    """

    def __init__(self, rollout: Rollout, report: Report = actions.report_progress) -> None:
        self._rollout = rollout
        self._report = report
        self._rows: list[list[float]] = []
        self._told = 0
        self._told_at = time.monotonic()
        self._given_up = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"report-{rollout.episode_id}", daemon=True)

    def __enter__(self) -> Reporter:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        if self._given_up:
            return
        if error is None:
            actions.pass_frames(self._rollout, self._told, self._rows[self._told :])
        else:
            patiently(self.tell)

    def on_start(self, start: StartState) -> None:
        self._rows.append(_row(start))

    def on_step(self, record: StepRecord) -> None:
        if self._given_up:
            raise AttemptGivenUp(f"{self._rollout.episode_id}: attempt {self._rollout.attempt} was given up")
        self._rows.append(_row(record.state))

    def tell(self) -> None:
        """Report what was not reported yet. Raises AttemptGivenUp when nobody waits for this attempt any more."""
        rows = self._rows[self._told :]
        steps = max(0, self._told + len(rows) - 1)
        self._told_at = time.monotonic()
        if not self._report(self._rollout, steps, self._told, rows):
            self._given_up = True
            raise AttemptGivenUp(f"{self._rollout.episode_id}: attempt {self._rollout.attempt} was given up")
        self._told += len(rows)

    def _run(self) -> None:
        while not self._ended.wait(REPORT_S):
            if self._told == len(self._rows) and time.monotonic() - self._told_at < HEARTBEAT_S:
                continue
            try:
                self.tell()
            except AttemptGivenUp:
                break
            except (DatabaseError, InterfaceError):
                log.warning("No word of %s could be written; trying again", self._rollout.episode_id, exc_info=True)
                drop_broken_connection()
        connection.close()


def _row(state: StartState) -> list[float]:
    """`[time, ...qpos]` of one step, as consumers pass it on."""
    return [round(state.time, DECIMALS), *(round(value, DECIMALS) for value in state.qpos.tolist())]
