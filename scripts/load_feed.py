"""The socket of a battle, as a visitor of `make load` watches it."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlsplit

import gevent
import websocket
from gevent.event import Event

TURN_WITHIN_S = 60.0


class Noting(Protocol):
    """The visitor, who notes what took time and is no request."""

    host: str | None
    client: Any

    def note(self, what: str, seconds: float, error: Exception | None = None) -> None: ...


def cookies_of(visitor: Noting) -> str:
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.client.cookiejar)


class Ended:
    """The end of a turn: whether it was received, and when, by `time.perf_counter`."""

    def __init__(self) -> None:
        self.at: float | None = None
        self.is_told = Event()

    def tell(self) -> None:
        self.at = self.at or time.perf_counter()
        self.is_told.set()


class Feed:
    """The socket of one battle, read while it is open."""

    def __init__(self, visitor: Noting, battle_id: str) -> None:
        self._visitor, self._over = visitor, False
        self._ended: dict[str, Ended] = {}
        self._socket = websocket.WebSocket(enable_multithread=False)
        before = time.perf_counter()
        host = urlsplit(visitor.host or "").netloc
        self._socket.connect(  # type: ignore[no-untyped-call]
            f"ws://{host}/ws/battles/{battle_id}/", cookie=cookies_of(visitor), origin=visitor.host, timeout=30
        )
        first = json.loads(self._socket.recv())
        if first.get("type") != "snapshot":
            raise RuntimeError(f"a socket began with {str(first)[:200]}; expected a snapshot")
        visitor.note("open to snapshot", time.perf_counter() - before)
        self._socket.settimeout(None)
        self._reader = gevent.spawn(self._read)

    def wait_for(self, turn_id: str, began: float) -> bool:
        """Whether the end of the turn was received in time. `began`: when the turn was sent, by `time.perf_counter`."""
        turn = self._ended.setdefault(turn_id, Ended())
        turn.is_told.wait(max(0.0, began + TURN_WITHIN_S - time.perf_counter()))
        error = None if turn.at else TimeoutError(f"no turn.finished within {TURN_WITHIN_S:.0f} s")
        self._visitor.note("turn sent to turn.finished", (turn.at or time.perf_counter()) - began, error)
        return turn.at is not None

    def close(self) -> None:
        self._over = True
        self._reader.kill()
        self._socket.close()

    def _read(self) -> None:
        try:
            while True:
                self._take(json.loads(self._socket.recv()))
        except (OSError, ValueError, websocket.WebSocketException) as error:
            if not self._over:
                self._visitor.note("closed by the other side", 0.0, error)

    def _take(self, event: dict[str, Any]) -> None:
        if event["type"] == "turn.opened":  # on one machine, so both times are of one clock
            made = datetime.fromisoformat(event["turn"]["created_at"]).timestamp()
            self._visitor.note("turn.opened, row to socket", max(0.0, time.time() - made))
        elif event["type"] == "turn.finished":
            error = None if event["status"] == "completed" else RuntimeError("a turn failed")
            if error:
                self._visitor.note("turn failed", 0.0, error)
            self._ended.setdefault(event["turn_id"], Ended()).tell()
