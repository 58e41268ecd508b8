"""A fake of Vapi on loopback that speaks its documented wire: POST /call, and the websocket transport."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

Json = dict[str, Any]


class FakeVapi:
    """`script`: what the socket sends, text frames as objects; then it waits for the end unless `leaves`."""

    def __init__(self, script: Sequence[Json | bytes | str], leaves: bool = False) -> None:
        self.script, self.leaves = script, leaves
        self.status, self.answer = 201, b""
        self.requests: list[Json] = []
        self.keys: list[str] = []
        self.heard = bytearray()
        self.told: list[Json] = []
        self.ended = asyncio.Event()
        self.address = self.socket_url = ""

    async def talk(self, socket: ServerConnection) -> None:
        for each in self.script:
            await socket.send(json.dumps(each) if isinstance(each, dict) else each)
        if self.leaves:
            return
        async for message in socket:
            if isinstance(message, bytes):
                self.heard += message
            else:
                self.told.append(json.loads(message))
        self.ended.set()


class _Calls(BaseHTTPRequestHandler):
    fake: FakeVapi

    def do_POST(self) -> None:
        fake = self.fake
        fake.requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        fake.keys.append(self.headers["Authorization"])
        call = {
            "id": "call-1",
            "type": "vapi.websocketCall",
            "status": "queued",
            "transport": {"provider": "vapi.websocket", "websocketCallUrl": fake.socket_url},
        }
        body = fake.answer or json.dumps(call).encode()
        self.send_response(fake.status if self.path == "/call" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return


@asynccontextmanager
async def fake_vapi(*script: Json | bytes | str, leaves: bool = False) -> AsyncIterator[FakeVapi]:
    fake = FakeVapi(script, leaves)
    rest = ThreadingHTTPServer(("127.0.0.1", 0), type("Calls", (_Calls,), {"fake": fake}))
    thread = threading.Thread(target=rest.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    fake.address = f"http://127.0.0.1:{rest.server_port}"
    async with serve(fake.talk, "127.0.0.1", 0) as sockets:
        port = next(iter(sockets.sockets)).getsockname()[1]
        fake.socket_url = f"ws://127.0.0.1:{port}/call-1/transport"
        try:
            yield fake
        finally:
            await asyncio.to_thread(rest.shutdown)
            thread.join()
            rest.server_close()
