"""Policy servers on loopback, good and bad. The good one codes its arrays with openpi's own package."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from typing import Any

import numpy as np
from openpi_client import msgpack_numpy
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

Answer = Callable[[ServerConnection, dict[str, Any]], Any]
CONTRACT = {"chunk": 4, "cameras": [{"name": "workspace", "height": 64, "width": 64}]}
METADATA: Mapping[str, Any] = {"arena_contract": CONTRACT}


class PolicyServer:
    """Like openpi's: metadata first, then an answer to each observation.

    `answer` returns the message to send: a map or an array to pack, or bytes or a text as they are. `asked`: the
    messages that came. `keys`: the header Authorization of each connection.
    """

    def __init__(self, answer: Answer | None = None, metadata: Any = METADATA, **options: Any) -> None:
        self.answer = answer or (lambda connection, message: {"actions": still(4)})
        self.metadata = metadata
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.connections = 0
        self.refuse: Callable[[ServerConnection, Request], Response | None] = lambda connection, request: None
        self._server = serve(
            self._handle, "127.0.0.1", 0, compression=None, max_size=None, process_request=self._look_at, **options
        )
        self.port = self._server.socket.getsockname()[1]

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def _look_at(self, connection: ServerConnection, request: Request) -> Response | None:
        self.keys.append(request.headers.get("Authorization", ""))
        self.connections += 1
        return self.refuse(connection, request)

    def _handle(self, connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            if self.metadata is not None:
                connection.send(packed(self.metadata))
            for came in connection:
                message = msgpack_numpy.unpackb(came)
                self.asked.append(message)
                connection.send(packed(self.answer(connection, message)))

    def serve_forever(self) -> None:
        self._server.serve_forever()

    def shutdown(self) -> None:
        self._server.shutdown()


def packed(message: Any) -> bytes | str:
    return message if isinstance(message, bytes | str) else bytes(msgpack_numpy.packb(message))


def still(rows: int) -> Any:
    """An arm that does not move, with an open gripper."""
    actions = np.zeros((rows, 7), np.float32)
    actions[:, 6] = 1.0
    return actions


def answers(actions: Any) -> Answer:
    return lambda connection, message: {"actions": actions}


def lingers(seconds: float) -> Answer:
    def answer(connection: ServerConnection, message: Any) -> Any:
        time.sleep(seconds)
        return {"actions": still(4)}

    return answer


def leaves(connection: ServerConnection, message: Any) -> Any:
    connection.socket.shutdown(socket.SHUT_RDWR)
    return b""


def status(code: int, **headers: str) -> Callable[[ServerConnection, Request], Response]:
    def refuse(connection: ServerConnection, request: Request) -> Response:
        response = connection.respond(HTTPStatus(code), "gpu-secret says no\n")
        response.headers.update(headers)
        return response

    return refuse


@contextmanager
def serving(server: Any) -> Iterator[Any]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()


class RawServer:
    """Takes connections and does with each what `treat` does with its socket."""

    def __init__(self, treat: Callable[[socket.socket], None], context: ssl.SSLContext | None = None) -> None:
        self.treat, self.context = treat, context
        self.ended = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"{'wss' if context else 'ws'}://127.0.0.1:{self._socket.getsockname()[1]}"

    def serve_forever(self) -> None:
        while True:
            try:
                taken, _ = self._socket.accept()
            except OSError:
                return
            with taken, suppress(OSError):
                if self.context:
                    self.context.wrap_socket(taken, server_side=True).close()
                else:
                    self.treat(taken)

    def shutdown(self) -> None:
        self.ended.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def trickle(self, taken: socket.socket, data: bytes, pause_s: float = 0.02) -> None:
        """A byte at a time, until the other side or the test has enough."""
        for byte in data:
            if self.ended.wait(pause_s):
                return
            taken.sendall(bytes([byte]))
