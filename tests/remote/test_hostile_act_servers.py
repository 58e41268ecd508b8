"""Whatever a server of OpenVLA's dialect does, the call ends in time, with a reason that repeats nothing it said."""

from __future__ import annotations

import re
import socket
import time
from typing import Any

import numpy as np
import pytest

from policies.remote import act
from policies.remote.card import card_from
from policies.remote.errors import BadFrame, RemoteError, ServerAway, ServerLate, ServerRefused
from policies.remote.policy import RemotePolicy, open_card
from policies.remote.wire import MOST_BYTES
from simulation.contracts import PolicyTooSlow
from tests.remote.act_servers import STILL, ActServer, as_json
from tests.remote.servers import RawServer, serving

QUICK_S = 1.0  # long enough for a server that answers at once beside other tests
CAMERAS = [{"name": "workspace", "height": 64, "width": 64}]
SECRETS = ("gpu-secret", "127.0.0.1", "far", "Traceback")
METADATA_SERVICE = "http://169.254.169.254/latest/meta-data/"


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONNECT_S", "GREET_S"):
        monkeypatch.setattr(act, name, QUICK_S)


def opened(url: str, **more: Any) -> RemotePolicy:
    return open_card(card_from("far", url, {}, {"cameras": CAMERAS, "infer_s": QUICK_S, **more}))


def failure_of(policy: RemotePolicy) -> RemoteError:
    began = time.monotonic()
    with pytest.raises((RemoteError, PolicyTooSlow)) as failed:
        play_once(policy)
    assert time.monotonic() - began < 4 * QUICK_S + 1
    error = failed.value.__cause__ if isinstance(failed.value, PolicyTooSlow) else failed.value
    assert isinstance(error, RemoteError)
    assert not [secret for secret in SECRETS if secret in str(error)]
    return error


def play_once(policy: RemotePolicy) -> None:
    policy.reset("pick up the red cube", 0)
    policy.infer(policy.spec.grey_observation("pick up the red cube"))


def lingers(message: Any) -> Any:
    time.sleep(2 * QUICK_S)
    return STILL


def coded(**parts: Any) -> Any:
    return as_json({"__numpy__": "AAAAAAAA8D8=", "dtype": "<f8", "shape": [1], **parts})


ANSWERS: dict[str, tuple[Any, type[RemoteError], str]] = {
    "error": (lambda message: "error", ServerRefused, "error of its own"),
    "traceback": (lambda message: "Traceback: gpu-secret", ServerRefused, "error of its own"),
    "another-width": (lambda message: np.zeros(8), BadFrame, r"\[8\]; expected \[1, 7\]"),
    "too-many": (lambda message: np.zeros((65, 7)), BadFrame, r"\[65, 7\]"),
    "not-finite": (lambda message: np.full(7, np.inf), BadFrame, "NaN or infinity"),
    "nan-in-json": (lambda message: b"[NaN, 0, 0, 0, 0, 0, 0]", BadFrame, "NaN, which is no number"),
    "not-metres": (lambda message: np.full(7, 1e300), BadFrame, "no metres"),
    "no-json": (lambda message: b"<html>gpu-secret</html>", BadFrame, "no JSON"),
    "no-text": (lambda message: b"\xff\xfe\x00", BadFrame, "no JSON"),
    "deep": (lambda message: b"[" * 200_000, BadFrame, "no JSON"),
    "long-number": (lambda message: b"1" * 10_000, BadFrame, "no JSON"),
    "objects": (coded(dtype="|O"), BadFrame, "no type that is read"),
    "a-structure": (coded(dtype=[["x", "<f8"]]), BadFrame, "no type that is read"),
    "no-base64": (coded(__numpy__="gpu-secret!"), BadFrame, "no base64"),
    "no-data": (coded(__numpy__=5), BadFrame, "expected base64"),
    "shape-lies": (coded(shape=[7]), BadFrame, "has 8 bytes"),
    "huge": (lambda message: b"1" * (MOST_BYTES + 1), BadFrame, "larger than 4 MiB"),
    "late": (lingers, ServerLate, "in time"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_cannot_be_played_fails_the_rollout_and_the_next_one_connects_anew(name: str) -> None:
    bad, kind, said = ANSWERS[name]
    with serving(ActServer(bad)) as server:
        policy = opened(server.url)
        error = failure_of(policy)
        assert isinstance(error, kind)
        assert re.search(said, str(error)), str(error)
        with pytest.raises(ServerAway, match="no connection"):
            policy.infer(policy.spec.grey_observation("x"))
        server.answer = lambda message: STILL
        policy.reset("x", 0)
        assert policy.infer(policy.spec.grey_observation("x")).shape == (1, 7)
        policy.close()


@pytest.mark.parametrize(
    ("status", "headers", "said"),
    [
        (500, {}, "status 500"),
        (422, {}, "status 422"),
        (401, {}, "refuses the key"),
        (302, {"Location": METADATA_SERVICE}, "redirects are not followed"),
        (307, {"Location": "http://localhost:1/act"}, "redirects are not followed"),
        (200, {"Content-Encoding": "gzip"}, "is compressed"),
    ],
    ids=["500", "422", "401", "internal", "elsewhere", "compressed"],
)
def test_a_server_that_refuses_is_not_asked_elsewhere(
    status: int, headers: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected: list[Any] = []
    create = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda place, **more: (connected.append(place), create(place, **more))[1]
    )
    with serving(ActServer(lambda message: "gpu-secret")) as server:
        policy = opened(server.url)
        policy.greet()
        server.status, server.headers = status, headers
        with pytest.raises(RemoteError, match=said) as failed:
            policy.infer(policy.spec.grey_observation("x"))
        policy.close()
        assert "gpu-secret" not in str(failed.value)
        assert set(connected) == {("127.0.0.1", server.port)}


def test_a_redirect_of_the_greeting_is_not_followed_either() -> None:
    with serving(ActServer()) as server:
        server.on_get, server.headers = 302, {"Location": METADATA_SERVICE}
        assert "redirects are not followed" in str(failure_of(opened(server.url)))
        assert not server.asked


def test_a_server_that_fails_every_second_call_fails_every_second_time_alone() -> None:
    with serving(ActServer(lambda message: STILL if len(server.asked) % 2 else b"500")) as server:
        policy, ends = opened(server.url), []
        for _ in range(4):
            try:
                policy.reset("x", 0)
                ends.append(len(policy.infer(policy.spec.grey_observation("x"))))
            except RemoteError:
                ends.append(0)
        policy.close()
    assert ends == [1, 0, 1, 0]


HEAD = b"HTTP/1.1 405 Method Not Allowed\r\n"


def trickles_its_head(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    server.trickle(taken, HEAD * 50)


def trickles_its_body(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(HEAD + b"Content-Length: 60000\r\n\r\n")
    server.trickle(taken, b"1" * 60_000)


def continues_for_ever(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    while not server.ended.wait(0.01):
        taken.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def never_reads(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(HEAD + b"Content-Length: 0\r\n\r\n")
    server.ended.wait(10)


def speaks_no_http(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(b"gpu-secret\r\n\r\n")


def breaks_off(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(HEAD + b"Content-Length: 100\r\n\r\nhalf")


def endless_headers(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(HEAD + b"X: gpu-secret\r\n" * 10_000)
    server.ended.wait(2)


def endless_chunks(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while not server.ended.is_set():
        taken.sendall(b"10000\r\n" + b"1" * 0x10000 + b"\r\n")


def switches_protocols(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
    server.ended.wait(2)


@pytest.mark.parametrize(
    ("treat", "kind"),
    [
        (trickles_its_head, ServerLate),
        (trickles_its_body, ServerLate),
        (continues_for_ever, ServerLate),
        (never_reads, ServerLate),
        (speaks_no_http, BadFrame),
        (breaks_off, ServerAway),
        (endless_headers, BadFrame),
        (endless_chunks, BadFrame),
        (switches_protocols, (BadFrame, ServerAway)),
        (lambda server, taken: None, ServerAway),
    ],
    ids=["head", "body", "continue", "never-reads", "no-http", "breaks-off", "headers", "chunks", "switch", "hangs-up"],
)
def test_a_server_on_the_level_of_bytes_holds_nobody(treat: Any, kind: Any) -> None:
    large = {"cameras": [{"name": "workspace", "height": 2048, "width": 2048}]}
    server = RawServer(lambda taken: treat(server, taken))
    with serving(server):
        error = failure_of(opened(server.url.replace("ws://", "http://") + "/act", **large))
    assert isinstance(error, kind), repr(error)


def test_nobody_at_home_is_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "cannot be reached" in str(failure_of(opened(f"http://127.0.0.1:{port}/act")))


def test_a_host_that_is_allowed_no_more_is_not_asked_any_more(settings: Any) -> None:
    with serving(ActServer()) as server:
        policy = opened(server.url)
        settings.POLICY_HOSTS = []
        assert "not allowed any more" in str(failure_of(policy))
        assert not server.connections
