"""Reports the progress of a running rollout from threads of its own, so that the control loop waits for no server."""

from __future__ import annotations

import logging
import threading
from types import TracebackType

import numpy as np
from django.db import DatabaseError, InterfaceError, connection

from arena import actions
from arena.models import Attempt
from arena.queue.retry import drop_broken_connection, retry_while_busy
from simulation.contracts import EpisodeResult, Floats, Listener, SimulationError, StartState, StepRecord
from simulation.view_format import OpenChunk, pack

log = logging.getLogger(__name__)

ROWS_S = 0.1  # well within the buffer of a turn's clock
HEARTBEAT_S = 2.0


class AttemptGivenUp(SimulationError):
    """Another attempt has replaced this one: its result would not be used."""

    code = "attempt_given_up"


class Reporter(Listener):
    """A listener, and a context manager around the rollout.

    Rows are sent in chunks of a fifth of a second (simulation.view_format), the last filled up with where the rollout
    ended. One thread sends new chunks to the sockets every ROWS_S. Another writes a heartbeat to the database every
    HEARTBEAT_S, however long the policy takes to answer. If the attempt was given up, the next step raises
    AttemptGivenUp.
    """

    def __init__(self, rollout: Attempt, scale: Floats, control_hz: int) -> None:
        """`scale` (nq,): what one unit of a view row stands for (simulation.view_format). `control_hz`: the robot's."""
        self._rollout = rollout
        self._scale = scale
        self._chunks: list[bytes] = []
        self._open = OpenChunk(control_hz)
        self._sent = 0
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
        self._send_new_rows()
        if error is not None:
            retry_while_busy(self.beat)

    def on_start(self, start: StartState) -> None:
        self._chunks.append(pack(start.qpos[np.newaxis], self._scale))

    def on_step(self, record: StepRecord) -> None:
        if self._given_up:
            raise self._gone()
        self._chunks += [pack(rows, self._scale) for rows in self._open.add(record.between, record.state.qpos)]

    def on_end(self, result: EpisodeResult) -> None:
        self._chunks += [pack(rows, self._scale) for rows in self._open.close()]

    def beat(self) -> None:
        """Write a heartbeat. Raises AttemptGivenUp if the attempt was given up."""
        if not actions.report_progress(self._rollout, max(0, len(self._chunks) - 1)):
            self._given_up = True
            raise self._gone()

    def _gone(self) -> AttemptGivenUp:
        return AttemptGivenUp(f"{self._rollout.episode_id}: attempt {self._rollout.tries} was given up")

    def _send_new_rows(self) -> None:
        chunks = self._chunks[self._sent :]
        if chunks:
            actions.pass_chunks(self._rollout, self._sent, chunks)
            self._sent += len(chunks)

    def _run_rows(self) -> None:
        while not self._ended.wait(ROWS_S) and not self._given_up:
            self._send_new_rows()

    def _run_heartbeat(self) -> None:
        pause = HEARTBEAT_S
        while not self._ended.wait(pause):
            pause = HEARTBEAT_S
            try:
                self.beat()
            except AttemptGivenUp:
                break
            except (DatabaseError, InterfaceError):
                log.warning("The heartbeat of %s failed; trying again", self._rollout.episode_id, exc_info=True)
                drop_broken_connection()
                pause = ROWS_S
        connection.close()
