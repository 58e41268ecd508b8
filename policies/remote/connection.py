"""A websocket to a server that may be slow, wrong or hostile. Every call ends within its seconds.

The protocol is that of `websockets`, without its threads: the bytes go over a Wire. There are no redirects, no proxies
and no compression.
"""

from __future__ import annotations

from collections import deque

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from policies.remote.errors import BadFrame, RemoteError, ServerAway, ServerRefused
from policies.remote.wire import MOST_BYTES, Wire

TOO_BIG = 1009
DATA = (Opcode.TEXT, Opcode.BINARY, Opcode.CONT)
CLOSE_S = 0.2


class Connection:
    """An open websocket. Not for two threads at once."""

    def __init__(self, url: str, key: str = "", seconds: float = 5.0) -> None:
        """Connects. `key`: sent as `Authorization: Api-Key ...`, if there is one. Raises RemoteError."""
        uri = parse_uri(url)
        self._protocol = ClientProtocol(uri, max_size=MOST_BYTES)
        self._frames: deque[Frame] = deque()
        self._wire = Wire(uri.host, uri.port, uri.secure, seconds)
        try:
            self._shake_hands(key)
        except BaseException:
            self._wire.close()
            raise

    def ask(self, message: bytes, seconds: float) -> bytes | str:
        """Send a message and wait for the next one, for at most so long together. Raises RemoteError."""
        self.send(message, seconds)
        return self._message()

    def send(self, message: bytes, seconds: float) -> None:
        """Send a message that has no answer. Raises RemoteError."""
        self._wire.allow(seconds)
        self._protocol.send_binary(message)
        self._send()

    def receive(self, seconds: float) -> bytes | str:
        """Wait for the next message. Raises RemoteError."""
        self._wire.allow(seconds)
        return self._message()

    def close(self) -> None:
        """Say goodbye, and wait for no answer."""
        self._wire.allow(CLOSE_S)
        try:
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(1000)
                self._send()
        except RemoteError:
            pass
        finally:
            self._wire.close()

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
        came = self._wire.receive()
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
            self._wire.send(data)


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
