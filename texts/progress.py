"""Passes answers on while they come. One thread sends the new chunks of all answers of this process together, another
asks for all of them whether they are still wanted: reading the servers waits for nothing of ours."""

from __future__ import annotations

import logging
import threading
import time
from typing import Self

from django.db import DatabaseError, InterfaceError, connection

from arena import actions
from arena.live.chunk_cache import Passed
from arena.models import Attempt
from arena.queue.retry import drop_broken_connection, retry_while_busy
from texts.chunks import CHARACTERS, count

log = logging.getLogger(__name__)
CHUNKS_S = 0.03  # well within the buffer of a turn's clock
LOOK_S, HEARTBEAT_S = 1.0, 4.0


class Reporter:
    """A context manager around an answer. What makes whole chunks is sent every CHUNKS_S. `given_up`: another try has
    replaced this one, or the visitor has stopped it, which is looked for every LOOK_S.
    """

    def __init__(self, attempt: Attempt, held: bool = False, instead: str | None = None) -> None:
        """`held`: nothing is shown before `send_rest`. `instead`: shown in place of the answer, as many characters as
        have come of it, and all of it at the end."""
        self.attempt = attempt
        self._held, self._instead = held, instead
        self._text = ""
        self._sent = 0
        self.given_up = False

    def __enter__(self) -> Self:
        actions.pass_all([actions.passed(self.attempt, 0, [b""])])
        rounds.add(self)
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        """How far an answer came that ends with a failure is noted: whoever settles it does not know."""
        rounds.remove(self)
        if failure is not None:
            retry_while_busy(lambda: actions.report_progress(self.attempt, self.length))

    @property
    def length(self) -> int:
        """How many chunks have come, the start not counted."""
        return count(min(len(self._text), len(self._shown)))

    @property
    def text(self) -> str:
        return self._text

    def add(self, piece: str) -> None:
        self._text += piece

    def new_chunks(self) -> Passed | None:
        """The whole chunks that have come since the last call."""
        if self._held or self.given_up:
            return None
        return self._take(min(len(self._text), len(self._shown)) // CHARACTERS)

    def send_rest(self) -> None:
        """Send what is left, also of a chunk that is not full. After the answer."""
        if rest := self._take(count(len(self._shown))):
            actions.pass_all([rest])

    @property
    def _shown(self) -> str:
        """All that is to be shown."""
        return self._text if self._instead is None else self._instead

    def _take(self, until: int) -> Passed | None:
        """Chunks up to number `until`, if there are new ones."""
        if until <= self._sent:
            return None
        text = self._shown[self._sent * CHARACTERS : until * CHARACTERS]
        parts = [text[first : first + CHARACTERS].encode() for first in range(0, len(text), CHARACTERS)]
        first, self._sent = self._sent + 1, until
        return actions.passed(self.attempt, first, parts)


class Rounds:
    """The two threads, which wait while there are no answers."""

    def __init__(self) -> None:
        self._reporters: set[Reporter] = set()
        self._sending = threading.Lock()  # an answer's last chunks must not overtake those before
        self._some, self._none = threading.Event(), threading.Event()
        self._started = False

    def add(self, reporter: Reporter) -> None:
        with self._sending:
            self._reporters.add(reporter)
            self._none.clear()
            self._some.set()
            if not self._started:
                self._started = True
                threading.Thread(target=self._send_all, name="chunks", daemon=True).start()
                threading.Thread(target=self._look_at_all, name="answers-wanted", daemon=True).start()

    def remove(self, reporter: Reporter) -> None:
        """Nothing of it is sent after this."""
        with self._sending:
            self._reporters.discard(reporter)
            if not self._reporters:
                self._some.clear()
                self._none.set()

    def _send_all(self) -> None:
        while self._some.wait():
            try:
                with self._sending:
                    new = [each for each in (reporter.new_chunks() for reporter in self._reporters) if each]
                    if new:
                        actions.pass_all(new)
            except Exception:  # the edge of the thread, on which every answer depends
                log.exception("Chunks were not sent")
            time.sleep(CHUNKS_S)

    def _look_at_all(self) -> None:
        beat_at = 0.0
        while self._some.wait():
            alive = time.monotonic() >= beat_at
            beat_at = time.monotonic() + HEARTBEAT_S if alive else beat_at
            try:
                self._look(alive)
            except (DatabaseError, InterfaceError):
                log.warning("It could not be seen which answers are wanted; trying again", exc_info=True)
                drop_broken_connection()
            except Exception:  # the edge of the thread
                log.exception("It could not be seen which answers are wanted")
            if self._none.wait(LOOK_S):
                connection.close()

    def _look(self, alive: bool) -> None:
        with self._sending:
            reporters = list(self._reporters)
        wanted = actions.wanted([each.attempt for each in reporters], alive)
        for reporter in reporters:
            reporter.given_up = reporter.attempt not in wanted


rounds = Rounds()
