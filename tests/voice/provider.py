"""A fake of a hosted provider on loopback: its REST by `answer`, and a socket that plays a script."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

Json = dict[str, Any]


class Request(NamedTuple):
    method: str
    path: str
    body: Json
    authorization: str


class FakeProvider:
    """`script`: what the socket sends, text frames as objects; then it waits for the end, or closes with `leaves`, a
    code and a reason."""

    def __init__(self, script: Sequence[Json | bytes | str], leaves: tuple[int, str] | None = None) -> None:
        self.script, self.leaves = script, leaves
        self.status, self.body = 0, b""
        """Of every answer, in place of the right one."""
        self.requests: list[Request] = []
        self.heard = bytearray()
        self.told: list[str] = []
        self.socket_path = ""
        self.ended = asyncio.Event()
        self.address = self.socket_address = ""

    def answer(self, request: Request) -> tuple[int, Json | list[Json]]:
        """The status and the body of the right answer."""
        raise NotImplementedError

    async def talk(self, socket: ServerConnection) -> None:
        self.socket_path = socket.request.path if socket.request else ""
        for each in self.script:
            await socket.send(json.dumps(each) if isinstance(each, dict) else each)
        if self.leaves:
            return await socket.close(*self.leaves)
        async for message in socket:
            if isinstance(message, bytes):
                self.heard += message
            else:
                self.told.append(message)
                with contextlib.suppress(ConnectionClosed):
                    await self.replied(socket, message)
        self.ended.set()
        return None

    async def replied(self, socket: ServerConnection, message: str) -> None:
        """What the provider answers to a text frame."""


class _Rest(BaseHTTPRequestHandler):
    fake: FakeProvider

    def _serve(self) -> None:
        fake = self.fake
        asked = self.rfile.read(int(self.headers["Content-Length"] or 0))
        request = Request(self.command, self.path, json.loads(asked or b"{}"), self.headers["Authorization"])
        fake.requests.append(request)
        status, told = fake.answer(request)
        body = fake.body or json.dumps(told).encode()
        self.send_response(fake.status or status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET = do_DELETE = _serve

    def log_message(self, format: str, *args: Any) -> None:
        return


Fake = TypeVar("Fake", bound=FakeProvider)


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while part := await source.read(1 << 16):
            sink.write(part)
            await sink.drain()
    sink.close()


@asynccontextmanager
async def one_address(rest: str, sockets: str) -> AsyncIterator[str]:
    """An address behind which there is a REST server and one of sockets, which get the upgrades."""

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        parts = urlsplit(sockets if b"upgrade: websocket" in head.lower() else rest)
        behind_reader, behind = await asyncio.open_connection(parts.hostname, parts.port)
        behind.write(head)
        await asyncio.gather(_copy(reader, behind), _copy(behind_reader, writer))

    server = await asyncio.start_server(pass_on, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def served(fake: Fake) -> AsyncIterator[Fake]:
    rest = ThreadingHTTPServer(("127.0.0.1", 0), type("Rest", (_Rest,), {"fake": fake}))
    thread = threading.Thread(target=rest.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.address = f"http://127.0.0.1:{rest.server_port}"
    async with serve(fake.talk, "127.0.0.1", 0) as sockets:
        fake.socket_address = f"ws://127.0.0.1:{next(iter(sockets.sockets)).getsockname()[1]}"
        try:
            yield fake
        finally:
            await asyncio.to_thread(rest.shutdown)
            thread.join()
            rest.server_close()
