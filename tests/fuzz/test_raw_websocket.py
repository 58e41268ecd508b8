"""Frames that no browser would send, to the running arena: the server ends their socket by the rules, and lives on."""

from __future__ import annotations

import base64
import os
import random
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from arena.live.consumers import MOST_MESSAGES, TOO_LARGE, TOO_MANY
from arena.visitors.cookies import COOKIE
from tests.fuzz.effort import EFFORT, tried
from tests.stack import Arena
from tests.visitor import Visitor

pytestmark = pytest.mark.stack

CONTINUED, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
PROTOCOL_ERROR, NOT_TEXT, TOO_BIG, GONE = 1002, 1007, 1009, "gone"  # TOO_BIG: said by the server, below the arena
QUESTION = b'{"type": "snapshot"}'


def frame(code: int, content: bytes = b"", *, last: bool = True, masked: bool = True, reserved: int = 0) -> bytes:
    """One frame as RFC 6455 lays it out."""
    head = bytes([last << 7 | reserved << 4 | code])
    size = len(content)
    mask = masked << 7
    if size < 126:
        head += bytes([mask | size])
    elif size < 1 << 16:
        head += bytes([mask | 126]) + struct.pack(">H", size)
    else:
        head += bytes([mask | 127]) + struct.pack(">Q", size)
    if not masked:
        return head + content
    key = b"\x01\x02\x03\x04"
    return head + key + bytes(byte ^ key[place % 4] for place, byte in enumerate(content))


class Wire:
    """A websocket spoken by hand."""

    def __init__(self, arena: Arena, path: str, cookie: str) -> None:
        self.stream = socket.create_connection(("127.0.0.1", arena.port), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: 127.0.0.1:{arena.port}",
            f"Origin: http://127.0.0.1:{arena.port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            f"Cookie: {COOKIE}={cookie}",
        ]
        self.stream.sendall("\r\n".join([*lines, "", ""]).encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self._more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        self.status = int(head.split()[1])

    def send(self, content: bytes) -> None:
        self.stream.sendall(content)

    def next(self) -> tuple[int, bytes]:
        """Opcode and content of the next frame of the server; (CLOSE, b"") where it just hangs up."""
        try:
            first, size = self._take(2)
            size &= 0x7F
            if size > 125:
                size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
            return first & 0x0F, self._take(size)
        except (EOFError, ConnectionError):
            return CLOSE, b""

    def ending(self) -> int | str:
        """The code with which the server closes, whatever it says before; GONE without one."""
        while True:
            code, content = self.next()
            if code == CLOSE:
                return int.from_bytes(content[:2], "big") if content else GONE

    def close(self) -> None:
        self.stream.close()

    def _take(self, count: int) -> bytes:
        while len(self.rest) < count:
            self.rest += self._more()
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def _more(self) -> bytes:
        found = self.stream.recv(1 << 16)
        if not found:
            raise EOFError
        return found


@pytest.fixture(scope="module")
def place(arena_stack: Arena) -> tuple[str, str]:
    """The path of a visitor's own battle, and the cookie."""
    visitor = Visitor(arena_stack.url)
    battle_id = visitor.open_battle()
    return f"/ws/battles/{battle_id}/", next(str(each.value) for each in visitor.cookies if each.name == COOKIE)


@contextmanager
def opened(arena: Arena, place: tuple[str, str]) -> Iterator[Wire]:
    tried["raw frames"] += 1
    wire = Wire(arena, *place)
    try:
        assert wire.status == 101
        assert wire.next()[0] == TEXT  # the snapshot
        yield wire
    finally:
        wire.close()


HOSTILE = {
    "unmasked": (frame(TEXT, QUESTION, masked=False), {PROTOCOL_ERROR}),
    "a reserved bit": (frame(TEXT, QUESTION, reserved=4), {PROTOCOL_ERROR}),
    **{f"opcode {code}": (frame(code, b"x"), {PROTOCOL_ERROR}) for code in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)},
    "a ping in pieces": (frame(PING, b"x", last=False), {PROTOCOL_ERROR}),
    "a ping of 126 bytes": (frame(PING, b"x" * 126), {PROTOCOL_ERROR}),
    "a close of one byte": (frame(CLOSE, b"x"), {PROTOCOL_ERROR}),
    "a close with no code": (frame(CLOSE, struct.pack(">H", 1005)), {PROTOCOL_ERROR}),
    "a close in no alphabet": (frame(CLOSE, struct.pack(">H", 1000) + b"\xff\xfe"), {NOT_TEXT, PROTOCOL_ERROR}),
    "a piece of nothing": (frame(CONTINUED, b"x"), {PROTOCOL_ERROR}),
    "two beginnings": (frame(TEXT, b"x", last=False) + frame(TEXT, b"x"), {PROTOCOL_ERROR}),
    "no UTF-8": (frame(TEXT, b"\xff\xfe\x00"), {NOT_TEXT}),
    "half a surrogate": (frame(TEXT, b"\xed\xa0\x80"), {NOT_TEXT}),
    "a claim of terabytes": (bytes([0x81, 0xFF]) + struct.pack(">Q", 1 << 42) + b"\0" * 4, {TOO_BIG}),
    "a claim past 63 bits": (bytes([0x81, 0xFF]) + b"\xff" * 12, {PROTOCOL_ERROR, TOO_BIG}),
    "two megabytes": (frame(TEXT, b"x" * (2 << 20)), {TOO_BIG}),
    "a hundred kilobytes of brackets": (frame(TEXT, b"[" * 100_000), {TOO_LARGE}),
    "a hundred kilobytes of anything": (frame(BINARY, b"\xff" * 100_000), {TOO_LARGE}),
    "a message without end": (
        frame(TEXT, b"x" * 60_000, last=False) + frame(CONTINUED, b"x" * 60_000, last=False) * 20,
        {TOO_BIG},
    ),
    "a flood of questions": (frame(TEXT, QUESTION) * (MOST_MESSAGES * 50), {TOO_MANY}),
    "a flood of nothing": (frame(TEXT) * 5000, {TOO_MANY}),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_frame_against_the_rules_ends_its_socket_and_no_other(
    arena_stack: Arena, place: tuple[str, str], kind: str
) -> None:
    content, codes = HOSTILE[kind]
    with opened(arena_stack, place) as other, opened(arena_stack, place) as wire:
        try:
            wire.send(content)
            assert wire.ending() in {*codes, GONE}
        except ConnectionError:
            pass  # hung up on us while we were still talking
        other.send(frame(TEXT, QUESTION))
        assert other.next()[0] == TEXT


def test_pings_are_answered_and_odd_but_right_frames_do_nothing(arena_stack: Arena, place: tuple[str, str]) -> None:
    with opened(arena_stack, place) as wire:
        wire.send(frame(PING, b"there?"))
        assert wire.next() == (PONG, b"there?")
        wire.send(frame(PONG, b"unasked") + frame(BINARY, b"\xff\x00") + frame(TEXT, b"") + frame(BINARY, b""))
        wire.send(frame(TEXT, QUESTION[:5], last=False) + frame(PING) + frame(CONTINUED, QUESTION[5:]))
        assert wire.next() == (PONG, b"")
        assert wire.next()[0] == TEXT
        wire.send(frame(CLOSE, struct.pack(">H", 1000)))
        assert wire.ending() == 1000


@pytest.mark.parametrize("path", ["/ws/", "/ws/battles/", "/ws/battles/x/y/", "/", "/ws/battles/%00/", "/admin/"])
def test_a_socket_to_nowhere_is_refused(arena_stack: Arena, place: tuple[str, str], path: str) -> None:
    tried["raw frames"] += 1
    wire = Wire(arena_stack, path, place[1])
    assert wire.status == 403 or wire.ending() == 4404
    wire.close()


def test_random_bytes_behind_a_handshake_leave_the_server_as_it_was(arena_stack: Arena, place: tuple[str, str]) -> None:
    draw = random.Random(1)
    web = psutil.Process(arena_stack.children()["web"])
    for _ in range(60 * EFFORT):
        with opened(arena_stack, place) as wire:
            head = bytes([draw.randrange(256), draw.randrange(256)])
            wire.send(head + draw.randbytes(draw.choice([4, 12, 200])))
    with opened(arena_stack, place) as wire:
        wire.send(frame(TEXT, QUESTION))
        assert wire.next()[0] == TEXT
    assert web.is_running()
    assert arena_stack.health()[0] == 200
    assert web.pid == arena_stack.children()["web"]
