"""A websocket to a server that may be slow, wrong or hostile. Every call ends within its seconds.

The protocol is that of `websockets`, without its threads: one thread reads and writes, and each read and write waits
for what is left of the call's time. So neither a byte a second nor an end that is never read can hold a worker. There
are no redirects, no proxies and no compression.
"""

from __future__ import annotations

import socket
import ssl
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from policies.remote.errors import BadFrame, RemoteError, ServerAway, ServerLate, ServerRefused

MOST_BYTES = 4 << 20
"""Of one message of a server. A chunk of 64 actions takes 4 KiB."""
READ_BYTES = 64 << 10
SENT_AT_ONCE = 256 << 10
TOO_BIG = 1009
DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
CLOSE_S = 0.2
Answer = TypeVar("Answer")


class Connection:
    """An open websocket. Not for two threads at once."""

    def __init__(self, url: str, key: str = "", seconds: float = 5.0) -> None:
        """Connects. `key`: sent as `Authorization: Api-Key ...`, if there is one. Raises RemoteError."""
        self._until = time.monotonic() + seconds
        uri = parse_uri(url)
        self._protocol = ClientProtocol(uri, max_size=MOST_BYTES)
        self._frames: deque[Frame] = deque()
        self._socket = self._open((uri.host, uri.port))
        try:
            if uri.secure:
                self._socket = self._secured(uri.host)
            self._shake_hands(key)
        except BaseException:
            self._socket.close()
            raise

    def ask(self, message: bytes, seconds: float) -> bytes | str:
        """Send a message and wait for the next one, for at most so long together. Raises RemoteError."""
        self._until = time.monotonic() + seconds
        self._protocol.send_binary(message)
        self._send()
        return self._message()

    def receive(self, seconds: float) -> bytes | str:
        """Wait for the next message. Raises RemoteError."""
        self._until = time.monotonic() + seconds
        return self._message()

    def close(self) -> None:
        """Say goodbye, and wait for no answer."""
        self._until = time.monotonic() + CLOSE_S
        try:
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                self._send()
        except RemoteError:
            pass
        finally:
            self._socket.close()

    def _open(self, place: tuple[str, int]) -> socket.socket:
        try:
            opened = socket.create_connection(place, timeout=self._left())
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        except TimeoutError:
            raise ServerLate("the server did not take the connection in time") from None
        except OSError as error:
            raise ServerAway(f"the server cannot be reached ({type(error).__name__})") from None
        return opened

    def _secured(self, host: str) -> socket.socket:
        self._socket.settimeout(self._left())
        try:
            return ssl.create_default_context().wrap_socket(self._socket, server_hostname=host)
        except TimeoutError:
            raise ServerLate("the server did not finish the TLS handshake in time") from None
        except ssl.SSLCertVerificationError as error:
            raise ServerRefused("the server's certificate is not valid", str(error.verify_message)) from None
        except (ssl.SSLError, OSError) as error:
            raise ServerAway(f"the TLS handshake failed ({type(error).__name__})") from None

    def _shake_hands(self, key: str) -> None:
        request = self._protocol.connect()
        if key:
            request.headers["Authorization"] = f"Api-Key {key}"
        self._protocol.send_request(request)
        self._send()
        while self._protocol.state is State.CONNECTING and self._protocol.handshake_exc is None:
            self._receive()
        if (refused := self._protocol.handshake_exc) is not None:
            raise _refusal(refused)

    def _message(self) -> bytes | str:
        """The next whole message: text or bytes."""
        parts: list[Frame] = []
        while not parts or not parts[-1].fin:
            while not self._frames:
                self._receive()
            parts.append(self._frames.popleft())
        whole = b"".join(bytes(part.data) for part in parts)
        if parts[0].opcode is not Opcode.TEXT:
            return whole
        try:
            return whole.decode()
        except UnicodeDecodeError:
            raise BadFrame("a text of the server is no UTF-8") from None

    def _receive(self) -> None:
        """Read what has come and answer what the protocol answers. Raises once the connection has ended."""
        try:
            came = self._within(lambda: self._socket.recv(READ_BYTES))
        except OSError as error:
            raise ServerAway(f"the connection was lost ({type(error).__name__})") from None
        if came:
            self._protocol.receive_data(came)
        else:
            self._protocol.receive_eof()
        events = self._protocol.events_received()
        data = [event for event in events if isinstance(event, Frame) and event.opcode in DATA]
        self._frames.extend(data)
        self._send()
        if not data and (not came or self._protocol.state not in (State.CONNECTING, State.OPEN)):
            self._raise_ended()

    def _raise_ended(self) -> None:
        if self._protocol.handshake_exc is not None:
            raise _refusal(self._protocol.handshake_exc)
        sent, came = self._protocol.close_sent, self._protocol.close_rcvd
        if sent is not None and sent.code == TOO_BIG:
            raise BadFrame(f"a message of the server is larger than {MOST_BYTES >> 20} MiB")
        if came is not None:
            raise ServerAway(f"the server ended the connection with code {came.code}", came.reason)
        raise ServerAway("the server broke off the connection")

    def _send(self) -> None:
        """Write what the protocol has for the server. An end of the stream needs no word: the socket is closed."""
        for data in self._protocol.data_to_send():
            view = memoryview(data)
            while view:
                part = view[:SENT_AT_ONCE]
                try:
                    view = view[self._within(lambda part=part: self._socket.send(part)) :]  # type: ignore[misc]
                except OSError as error:
                    raise ServerAway(f"the connection was lost ({type(error).__name__})") from None

    def _within(self, call: Callable[[], Answer]) -> Answer:
        self._socket.settimeout(self._left())
        try:
            return call()
        except TimeoutError:
            raise ServerLate("the server did not answer in time") from None

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise ServerLate("the server did not answer in time")
        return left


def _refusal(error: Exception) -> RemoteError:
    """What a handshake that failed means."""
    if isinstance(error, InvalidStatus):
        return _refused_with(error.response)
    what = "refuses a websocket" if isinstance(error, InvalidHandshake) else "ended the connection"
    return ServerRefused(f"the server {what} ({type(error).__name__})")


def _refused_with(response: Response) -> ServerRefused:
    status, words = response.status_code, bytes(response.body or b"").decode(errors="replace")
    if 300 <= status < 400:
        return ServerRefused(f"the server redirects (status {status}), and redirects are not followed")
    if status in (401, 403):
        return ServerRefused(f"the server refuses the key (status {status})", words)
    return ServerRefused(f"the server refuses a websocket with status {status}", words)
