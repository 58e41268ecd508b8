"""Servers of OpenVLA's dialect on loopback, good and bad. The good one codes its arrays with the json-numpy package."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import json_numpy
import numpy as np

Answer = Callable[[dict[str, Any]], Any]
STILL = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class ActServer:
    """Like OpenVLA's deployment script: POST of JSON, an action or the text "error" as the answer.

    `answer` returns what is sent as JSON, or bytes as they are. `asked`: the messages that came; `heads`: their
    headers; `connections`: how many were opened. `status`, `headers`: of the answers to a POST; a GET gets `on_get`.
    """

    def __init__(self, answer: Answer | None = None, context: ssl.SSLContext | None = None) -> None:
        self.answer = answer or (lambda message: STILL)
        self.asked: list[dict[str, Any]] = []
        self.heads: list[Mapping[str, str]] = []
        self.connections = 0
        self.status, self.on_get = 200, 405
        self.headers: dict[str, str] = {}
        self.protocol = "HTTP/1.1"
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        if context:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/act"

    def serve_forever(self) -> None:
        self._server.serve_forever(poll_interval=0.05)

    def shutdown(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(server: ActServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10

        def setup(self) -> None:
            self.protocol_version = server.protocol
            server.connections += 1
            super().setup()

        def do_GET(self) -> None:
            server.heads.append(dict(self.headers))
            self.tell(server.on_get, b"Method Not Allowed")

        def do_POST(self) -> None:
            came = self.rfile.read(int(self.headers["Content-Length"]))
            message = json_numpy.loads(came.decode())
            if "encoded" in message:
                message = json_numpy.loads(message["encoded"])
                message["was encoded"] = True
            server.asked.append(message)
            server.heads.append(dict(self.headers))
            told = server.answer(message)
            self.tell(server.status, told if isinstance(told, bytes) else json_numpy.dumps(told).encode())

        def tell(self, status: int, body: bytes) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **server.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def handle(self) -> None:
            with suppress(OSError):  # the client had enough
                super().handle()

    return Handler


def as_json(told: Any) -> Answer:
    """An answer in plain JSON, without arrays of json-numpy."""
    return lambda message: json.dumps(told).encode()
