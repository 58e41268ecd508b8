"""A connection to a server that may be slow, wrong or hostile. Every call ends within its seconds.

One thread reads and writes, and each read and write waits for what is left of the call's time. So neither a byte a
second nor an end that is never read can hold a worker. There are no proxies.
"""

from __future__ import annotations

import select
import socket
import ssl
import time
from collections.abc import Callable
from typing import TypeVar

from policies.remote.errors import RemoteError, ServerAway, ServerLate, ServerRefused

MOST_BYTES = 4 << 20
"""Of one message of a server. A chunk of 64 actions takes 4 KiB."""
READ_BYTES = 64 << 10
SENT_AT_ONCE = 256 << 10
Answer = TypeVar("Answer")


class Wire:
    """Bytes over TCP or TLS. Not for two threads at once."""

    def __init__(self, host: str, port: int, secure: bool, seconds: float) -> None:
        """Connects, with `secure` to a server whose certificate is valid for the host. Raises RemoteError."""
        self.allow(seconds)
        self._socket = self._open((host, port))
        if not secure:
            return
        try:
            self._socket = self._secured(host)
        except RemoteError:
            self._socket.close()
            raise

    def allow(self, seconds: float) -> None:
        """From now on everything together may take so long."""
        self._until = time.monotonic() + seconds

    def send(self, data: bytes) -> None:
        """Raises ServerAway and ServerLate."""
        view = memoryview(data)
        while view:
            part = view[:SENT_AT_ONCE]
            view = view[self._within(lambda part=part: self._socket.send(part)) :]  # type: ignore[misc]

    def receive(self) -> bytes:
        """What has come, b"" at the end. Raises ServerAway and ServerLate."""
        return self._within(lambda: self._socket.recv(READ_BYTES))

    def is_silent(self) -> bool:
        """Whether nothing has come that was not read, not even an end."""
        return not select.select([self._socket], [], [], 0)[0]

    def close(self) -> None:
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

    def _within(self, call: Callable[[], Answer]) -> Answer:
        self._socket.settimeout(self._left())
        try:
            return call()
        except TimeoutError:
            raise ServerLate("the server did not answer in time") from None
        except OSError as error:
            raise ServerAway(f"the connection was lost ({type(error).__name__})") from None

    def _left(self) -> float:
        left = self._until - time.monotonic()
        if left <= 0:
            raise ServerLate("the server did not answer in time")
        return left
