"""HTTP/1.1 to a server that may be slow, wrong or hostile. Every call ends within its seconds.

The protocol is that of `h11`, over a Wire. There are no redirects, no proxies, no cookies and no compression.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

import h11

from policies.remote.errors import BadFrame, ServerAway, ServerRefused
from policies.remote.wire import MOST_BYTES, Wire

MOST_OF_HEADERS = 16 << 10
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class HttpAnswer:
    """Of any status but a redirect and a refused key."""

    status: int
    body: bytes


class HttpConnection:
    """Requests to one address, on a connection that is kept while the server keeps it. Not for two threads at once."""

    def __init__(self, url: str, key: str = "", seconds: float = 5.0) -> None:
        """Connects. `key`: sent as `Authorization: Bearer ...`, if there is one. Raises RemoteError."""
        parts = urlsplit(url)
        self._place = (parts.hostname or "", parts.port or PORTS[parts.scheme], parts.scheme == "https")
        self._target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._headers = [("Host", parts.netloc), ("Accept", "application/json"), ("Accept-Encoding", "identity")]
        if key:
            self._headers.append(("Authorization", f"Bearer {key}"))
        self._connect(seconds)

    def get(self, seconds: float) -> HttpAnswer:
        """Raises RemoteError."""
        return self._answer("GET", b"", seconds)

    def post(self, body: bytes, seconds: float) -> HttpAnswer:
        """A body of JSON. Raises RemoteError."""
        return self._answer("POST", body, seconds)

    def close(self) -> None:
        self._wire.close()

    def _connect(self, seconds: float) -> None:
        self._wire = Wire(*self._place, seconds)
        self._protocol = h11.Connection(h11.CLIENT, max_incomplete_event_size=MOST_OF_HEADERS)
        self._ended = False

    def _answer(self, method: str, body: bytes, seconds: float) -> HttpAnswer:
        if not self._can_be_used_again():
            self._wire.close()
            self._connect(seconds)
        self._wire.allow(seconds)
        try:
            self._ask(method, body)
            return self._read()
        except h11.RemoteProtocolError:
            if self._ended:
                raise ServerAway("the server broke off the connection") from None
            raise BadFrame("the server does not answer in HTTP") from None

    def _can_be_used_again(self) -> bool:
        """Whether the next request may go over this connection; a server ends those that it has heard nothing of."""
        if h11.DONE in (self._protocol.our_state, self._protocol.their_state):
            try:
                self._protocol.start_next_cycle()
            except h11.LocalProtocolError:
                return False
        return self._protocol.our_state is h11.IDLE and self._wire.is_silent()

    def _ask(self, method: str, body: bytes) -> None:
        headers = list(self._headers)
        if body:
            headers += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        parts = [self._protocol.send(h11.Request(method=method, target=self._target, headers=headers))]
        if body:
            parts.append(self._protocol.send(h11.Data(data=body)))
        parts.append(self._protocol.send(h11.EndOfMessage()))
        self._wire.send(b"".join(part for part in parts if part))

    def _read(self) -> HttpAnswer:
        response, body = self._response(), bytearray()
        while not isinstance(event := self._event(), h11.EndOfMessage):
            if isinstance(event, h11.Data):
                body += event.data
            if len(body) > MOST_BYTES:
                raise BadFrame(f"a message of the server is larger than {MOST_BYTES >> 20} MiB")
        _raise_refusal(response, bytes(body))
        return HttpAnswer(response.status_code, bytes(body))

    def _response(self) -> h11.Response:
        while not isinstance(event := self._event(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise ServerAway("the server broke off the connection")
        return event

    def _event(self) -> object:
        """The next part of the response."""
        while (event := self._protocol.next_event()) is h11.NEED_DATA:
            came = self._wire.receive()
            self._ended = not came
            self._protocol.receive_data(came)
        return event


def _raise_refusal(response: h11.Response, body: bytes) -> None:
    status, words = response.status_code, body.decode(errors="replace")
    coding = dict(response.headers).get(b"content-encoding", b"identity")
    if 300 <= status < 400:
        raise ServerRefused(f"the server redirects (status {status}), and redirects are not followed")
    if status in (401, 403):
        raise ServerRefused(f"the server refuses the key (status {status})", words)
    if coding != b"identity":  # a few bytes could become gigabytes
        raise BadFrame("the server's answer is compressed, which was not asked for")
