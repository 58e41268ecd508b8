"""A line between the arena and one of its servers, which can be cut off or stopped."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from enum import Enum

from tests.ports import free_port

PIECE = 65536
Ports = Callable[[], set[int]]


class LineState(Enum):
    """`CUT`: connections are ended and refused, as by a firewall. `STUCK`: open, and nothing passes: a frozen host."""

    OPEN = "open"
    CUT = "cut"
    STUCK = "stuck"


class Line:
    """Forwards port `port` of `listens_on` to `host`:`target`, in a thread of its own, until `close`.

    `delay_s`: how much later everything arrives, either way. `passed`: bytes so far, both ways together.
    """

    def __init__(self, host: str, target: int, *, listens_on: str = "127.0.0.1", delay_s: float = 0.0) -> None:
        self.port = free_port()
        self.delay_s, self.passed = delay_s, 0
        self._listens_on, self._host, self._target = listens_on, host, target
        self._state = LineState.OPEN
        self._loop = asyncio.new_event_loop()
        self._moving = asyncio.Event()
        self._moving.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._shut_out: Ports = set  # local ports of those who may not pass
        self._server: asyncio.Server | None = None
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._ask(self._listen())

    def set(self, state: LineState) -> None:
        self._ask(self._set(state))

    def shut_out(self, ports: Ports | None) -> None:
        """End and refuse the connections that come from these local ports, asked anew for each; None: of nobody."""
        self._ask(self._shut(ports or set))

    def close(self) -> None:
        self._ask(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def _ask(self, what: object) -> None:
        asyncio.run_coroutine_threadsafe(what, self._loop).result(10)  # type: ignore[arg-type]

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, self._listens_on, self.port)

    async def _set(self, state: LineState) -> None:
        self._state = state
        if state is LineState.STUCK:
            self._moving.clear()
        else:
            self._moving.set()
        if state is LineState.CUT:
            if self._server is not None:
                self._server.close()
                self._server = None
            for writer in list(self._writers):
                writer.transport.abort()
        elif self._server is None:
            await self._listen()

    async def _end(self) -> None:
        """Cut, and nothing left that forwards."""
        await self._set(LineState.CUT)
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await asyncio.sleep(0)  # what was aborted is closed in the loop's next round

    async def _shut(self, ports: Ports) -> None:
        self._shut_out = ports
        barred = ports()
        for writer in list(self._writers):
            if _caller(writer) in barred:
                writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if _caller(writer) in self._shut_out():
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection(self._host, self._target)
        except OSError:
            writer.transport.abort()
            return
        ends = {writer, far_writer}
        self._writers |= ends
        try:
            await asyncio.gather(self._pass(reader, far_writer), self._pass(far_reader, writer))
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while piece := await reader.read(PIECE):
                await self._moving.wait()
                self.passed += len(piece)
                if self.delay_s:
                    self._loop.call_later(self.delay_s, writer.write, piece)
                else:
                    writer.write(piece)
                    await writer.drain()
        self._loop.call_later(self.delay_s, writer.close)


def _caller(writer: asyncio.StreamWriter) -> int:
    """The port at the other end."""
    end = writer.get_extra_info("peername")
    return int(end[1]) if end else 0
