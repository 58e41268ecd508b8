"""Passes an answer on while it comes, from a thread of its own: reading the server waits for nothing of ours."""

from __future__ import annotations

import logging
import threading
import time
from typing import Self

from django.db import DatabaseError, InterfaceError, connection

from arena import actions
from arena.models import Attempt
from arena.queue.retry import drop_broken_connection
from texts.chunks import CHARACTERS, count

log = logging.getLogger(__name__)
CHUNKS_S = 0.05  # well within the buffer of a turn's clock
LOOK_S, HEARTBEAT_S = 1.0, 4.0


class Reporter:
    """A context manager around an answer. Its thread sends what makes whole chunks every CHUNKS_S, and a heartbeat
    every HEARTBEAT_S, however long the server is silent: each is a write, and all answers write to one database.
    Every LOOK_S it looks whether the answer is still wanted. `given_up`: another try has replaced this one, or the
    visitor has stopped it.
    """

    def __init__(self, attempt: Attempt, held: bool = False, instead: str | None = None) -> None:
        """`held`: nothing is shown before `send_rest`. `instead`: shown in place of the answer, as many characters as
        have come of it, and all of it at the end."""
        self._attempt = attempt
        self._held, self._instead = held, instead
        self._text = ""
        self._sent = 0
        self.given_up = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"answer-{attempt.episode_id}", daemon=True)

    def __enter__(self) -> Self:
        actions.pass_chunks(self._attempt, 0, [b""])
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def text(self) -> str:
        return self._text

    def add(self, piece: str) -> None:
        self._text += piece

    def send_rest(self) -> None:
        """Send what is left, also of a chunk that is not full. After the thread has ended."""
        self._send(count(len(self._shown)))

    @property
    def _shown(self) -> str:
        """All that is to be shown."""
        return self._text if self._instead is None else self._instead

    def _send(self, until: int) -> None:
        """Chunks up to number `until`."""
        if until > self._sent:
            text = self._shown[self._sent * CHARACTERS : until * CHARACTERS]
            parts = [text[first : first + CHARACTERS].encode() for first in range(0, len(text), CHARACTERS)]
            actions.pass_chunks(self._attempt, self._sent + 1, parts)
            self._sent = until

    def _run(self) -> None:
        look_at = beat_at = 0.0
        while not self._ended.wait(CHUNKS_S) and not self.given_up:
            if not self._held:
                self._send(min(len(self._text), len(self._shown)) // CHARACTERS)
            now = time.monotonic()
            if now >= look_at:
                self._look(alive=now >= beat_at)
                look_at, beat_at = now + LOOK_S, beat_at if now < beat_at else now + HEARTBEAT_S
        connection.close()

    def _look(self, alive: bool) -> None:
        """`alive`: say so, too."""
        try:
            wanted = actions.report_progress(self._attempt, self._sent) if alive else actions.is_wanted(self._attempt)
            self.given_up = not wanted
        except (DatabaseError, InterfaceError):
            log.warning("The heartbeat of %s failed; trying again", self._attempt.episode_id, exc_info=True)
            drop_broken_connection()
