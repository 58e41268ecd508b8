"""An event loop in a thread of its own, for synchronous code that talks to the channel layer now and again.

`async_to_sync` makes a loop for every call where none runs, in every worker that is, and a connection with each loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any


class Courier:
    """Starts its thread with the first errand of a process; a process that is forked later starts one of its own."""

    def __init__(self) -> None:
        self._begin()
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()  # a new one: another thread may have held it when the process was forked
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, errand: Coroutine[Any, Any, None]) -> None:
        """Wait until it is done; raises what it raises."""
        asyncio.run_coroutine_threadsafe(errand, self._running_loop()).result()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="courier", daemon=True).start()
            return self._loop


courier = Courier()
