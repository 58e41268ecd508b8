"""Telling how far a rollout is while it runs, from threads beside the loop: the loop waits for no server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from types import TracebackType

import numpy as np
from django.db import DatabaseError, InterfaceError, connection

from arena import actions
from arena.models import Attempt
from arena.queue.retry import drop_broken_connection, retry_while_busy
from simulation.contracts import Floats, Listener, SimulationError, StartState, StepRecord
from simulation.view_format import pack

log = logging.getLogger(__name__)

ROWS_S = 0.1  # well within the buffer of a turn's clock
HEARTBEAT_S = 2.0
Beat = Callable[[Attempt, int], bool]
PassChunks = Callable[[Attempt, int, list[bytes]], None]


class AttemptGivenUp(SimulationError):
    """Another attempt has taken this one's place: whatever it would still find out is of no use."""

    code = "attempt_given_up"


class Reporter(Listener):
    """A listener, and a context that runs as long as the rollout does.

    One thread passes on the view rows of new steps every ROWS_S: they go to the sockets alone, which show them by the
    turn's clock. Another says to the database every HEARTBEAT_S that the attempt is alive, however long a policy
    thinks, and so learns whether it was given up; then the next step raises AttemptGivenUp.
    """

    def __init__(
        self,
        rollout: Attempt,
        scale: Floats,
        beat: Beat = actions.report_progress,
        pass_chunks: PassChunks = actions.pass_chunks,
    ) -> None:
        """`scale` (nq,): what one unit of a view row stands for (simulation.view_format)."""
        self._rollout = rollout
        self._scale = scale
        self._beat = beat
        self._pass_chunks = pass_chunks
        self._steps: list[bytes] = []
        self._passed = 0
        self._given_up = False
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=target, name=f"{name}-{rollout.episode_id}", daemon=True)
            for name, target in (("rows", self._run_rows), ("heartbeat", self._run_heartbeat))
        ]

    def __enter__(self) -> Reporter:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        if self._given_up:
            return
        self._pass_news()
        if error is not None:
            retry_while_busy(self.beat)

    def on_start(self, start: StartState) -> None:
        self._steps.append(pack(start.qpos[np.newaxis], self._scale))

    def on_step(self, record: StepRecord) -> None:
        if self._given_up:
            raise AttemptGivenUp(f"{self._rollout.episode_id}: attempt {self._rollout.tries} was given up")
        self._steps.append(pack(record.between, self._scale))

    def beat(self) -> None:
        """Say that the attempt is alive. Raises AttemptGivenUp when nobody waits for it any more."""
        if not self._beat(self._rollout, max(0, len(self._steps) - 1)):
            self._given_up = True
            raise AttemptGivenUp(f"{self._rollout.episode_id}: attempt {self._rollout.tries} was given up")

    def _pass_news(self) -> None:
        steps = self._steps[self._passed :]
        if steps:
            self._pass_chunks(self._rollout, self._passed, steps)
            self._passed += len(steps)

    def _run_rows(self) -> None:
        while not self._ended.wait(ROWS_S) and not self._given_up:
            self._pass_news()

    def _run_heartbeat(self) -> None:
        pause = HEARTBEAT_S
        while not self._ended.wait(pause):
            pause = HEARTBEAT_S
            try:
                self.beat()
            except AttemptGivenUp:
                break
            except (DatabaseError, InterfaceError):
                log.warning("No word of %s could be written; trying again", self._rollout.episode_id, exc_info=True)
                drop_broken_connection()
                pause = ROWS_S
        connection.close()
