"""An event loop in a thread of its own, with which synchronous code uses the channel layer.

`async_to_sync` would make a loop for every call, and a connection to the layer with each loop.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any


class LoopThread:
    """Starts its thread with the first call in a process. A forked process starts one of its own."""

    def __init__(self) -> None:
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()  # another thread may have held the old one at the fork
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Wait for the coroutine, and raise what it raises."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="channel-layer", daemon=True).start()
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


loop_thread = LoopThread()
