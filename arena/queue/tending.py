"""What a worker does beside playing, for visitors who wait: each kind says what (`arena.kinds.Kind.tend`)."""

from __future__ import annotations

import logging
import threading
from typing import Any

from django.db import DatabaseError, InterfaceError, connection

from arena.queue import hosting

log = logging.getLogger(__name__)
EVERY_S = 0.2
AFTER_TROUBLE_S = 5.0


class Tender:
    """A thread that lets every kind tend, several times a second. Its connection is its own."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, **_: Any) -> None:
        self._ended.clear()
        self._thread = threading.Thread(target=self._run, name="tender", daemon=True)
        self._thread.start()

    def stop(self, **_: Any) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(AFTER_TROUBLE_S)

    def _run(self) -> None:
        pause = EVERY_S
        while not self._ended.wait(pause):
            pause = EVERY_S if tend() else AFTER_TROUBLE_S
        connection.close()


def tend() -> bool:
    """Let every kind of this worker tend once; answers whether all could."""
    try:
        for kind in hosting.kinds_here():
            kind.tend()
    except (DatabaseError, InterfaceError):
        log.warning("The database does not answer; trying again soon", exc_info=True)
        connection.close()
        return False
    except Exception:  # the edge of the thread: a fault of one kind must not end it
        log.exception("A kind could not tend")
        return False
    return True
