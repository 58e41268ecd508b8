"""Whatever a server does, the call ends in time, with a reason that names nobody and repeats nothing that it said."""

from __future__ import annotations

import json
import pickle
import re
import socket
import ssl
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from policies.base import BadCard
from policies.remote import openpi as client
from policies.remote.card import card_from
from policies.remote.errors import BadFrame, ContractBroken, RemoteError, ServerAway, ServerLate, ServerRefused
from policies.remote.policy import RemotePolicy, open_card
from policies.remote.wire import MOST_BYTES
from simulation.contracts import Limits, PolicyFailure, PolicyTooSlow
from simulation.environment import Environment
from simulation.runner import run_episode
from tests.remote.servers import (
    CONTRACT,
    METADATA,
    PolicyServer,
    RawServer,
    answers,
    leaves,
    lingers,
    serving,
    status,
    still,
)

QUICK_S = 1.0  # long enough for a server that answers at once beside other tests
SECRETS = ("gpu-secret", "127.0.0.1", "far", "Traceback")


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONNECT_S", "METADATA_S", "RESET_S"):
        monkeypatch.setattr(client, name, QUICK_S)


def opened(url: str, **more: Any) -> RemotePolicy:
    return open_card(card_from("far", url, CONTRACT, {"infer_s": QUICK_S, **more}))


def failure_of(policy: RemotePolicy) -> RemoteError:
    """Of a reset and an inference; none takes longer than the client allows."""
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


def huge(connection: Any, message: Any) -> bytes:
    return b"\0" * (MOST_BYTES + 1)


def lies_in_fragments(connection: Any, message: Any) -> Any:
    connection.send(b"\x91" * 1000 for _ in range(100_000))
    return b""


ANSWERS: dict[str, tuple[Any, type[RemoteError], str]] = {
    "another-width": (answers(np.zeros((4, 8))), BadFrame, r"\[4, 8\]; expected \[4, 7\]"),
    "another-length": (answers(np.zeros((5, 7))), BadFrame, r"\[5, 7\]; expected \[4, 7\]"),
    "none-at-all": (answers(np.zeros((0, 7))), BadFrame, r"\[0, 7\]"),
    "texts": (answers(np.full((4, 7), "x")), BadFrame, "no type that is read"),
    "lists": (answers(np.zeros((4, 7)).tolist()), BadFrame, "type list"),
    "not-finite": (answers(np.full((4, 7), np.nan)), BadFrame, "NaN or infinity"),
    "not-metres": (answers(np.full((4, 7), 1e300)), BadFrame, "no metres"),
    "without-actions": (lambda connection, message: {"action": still(4)}, BadFrame, "no 'actions'"),
    "a-number": (lambda connection, message: 7, BadFrame, "type int"),
    "huge": (huge, BadFrame, "larger than 4 MiB"),
    "huge-in-fragments": (lies_in_fragments, BadFrame, "larger than 4 MiB"),
    "pickle": (lambda connection, message: pickle.dumps({"actions": [1]}), BadFrame, "no msgpack"),
    "another-dialect": (lambda connection, message: json.dumps({"type": "action"}), ServerRefused, "error of its own"),
    "an-error": (lambda connection, message: "Traceback: gpu-secret", ServerRefused, "error of its own"),
    "late": (lingers(2 * QUICK_S), ServerLate, "in time"),
    "leaves": (leaves, ServerAway, "broke off|was lost"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_cannot_be_played_fails_the_rollout_and_the_next_one_connects_anew(name: str) -> None:
    bad, kind, said = ANSWERS[name]
    with serving(PolicyServer(bad)) as server:
        policy = opened(server.url)
        error = failure_of(policy)
        assert isinstance(error, kind)
        assert re.search(said, str(error)), str(error)
        with pytest.raises(ServerAway, match="no connection"):
            policy.infer(policy.spec.grey_observation("x"))
        server.answer = answers(still(4))
        policy.reset("x", 0)
        assert policy.infer(policy.spec.grey_observation("x")).shape == (4, 7)
        policy.close()
        assert server.connections == 2


BEGINNINGS: dict[str, tuple[Any, type[RemoteError], str]] = {
    "missing": (None, ServerLate, "no metadata"),
    "a-list": ([1], BadFrame, "no map of metadata, but list"),
    "a-text": ("hello from gpu-secret", ServerRefused, "error of its own"),
    "no-msgpack": (b"\xc1\xc1", BadFrame, "no msgpack"),
    "no-contract": ({"arena_contract": 5}, BadFrame, "expected a map"),
    "another-space": ({"arena_contract": {"action_space": "joint_position"}}, ContractBroken, "card: action_space"),
    "another-chunk": ({"arena_contract": {**CONTRACT, "chunk": 8}}, ContractBroken, "card: chunk"),
    "another-rate": ({"arena_contract": {"rate_hz": 50}}, ContractBroken, "card: rate_hz"),
    "another-revision": ({"arena_contract": {"revision": "gpu-secret"}}, ContractBroken, "card: revision"),
    "another-form": ({"arena_contract": {"actions": {"pose": "absolute"}}}, ContractBroken, "card: actions"),
    "nonsense": ({"arena_contract": {"actions": {"gpu-secret": 1}}}, ContractBroken, "card: forms"),
    "other-cameras": ({"arena_contract": {"cameras": []}}, ContractBroken, "card: cameras"),
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_server_that_does_not_begin_as_the_card_says_is_refused_before_it_is_asked(name: str) -> None:
    metadata, kind, said = BEGINNINGS[name]
    with serving(PolicyServer(metadata=metadata)) as server:
        error = failure_of(opened(server.url))
        assert isinstance(error, kind)
        assert said in str(error)
        assert not server.asked


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({}, "its configuration"),
        ({"image_resolution": [224, 224]}, "image_resolution"),
        ({"action_space": "joint_position"}, "action_space"),
        ({"n_external_cameras": 2}, "cameras"),
        ({"n_external_cameras": "many"}, "n_external_cameras"),
        ({"needs_wrist_camera": True}, "cameras"),
    ],
    ids=str,
)
def test_roboarenas_configuration_is_compared_as_well(metadata: dict[str, Any], said: str) -> None:
    usual = {"image_resolution": [64, 64], "n_external_cameras": 1, "needs_wrist_camera": False}
    whole = {**usual, "action_space": "cartesian_velocity", **metadata} if metadata else {}
    with serving(PolicyServer(metadata=whole)) as server:
        error = failure_of(opened(server.url, dialect="roboarena"))
        assert isinstance(error, ContractBroken)
        assert f"card: {said}" in str(error)


@pytest.mark.parametrize(
    ("refuse", "said"),
    [
        (status(500), "status 500"),
        (status(401), "refuses the key"),
        (status(302, Location="http://169.254.169.254/latest/meta-data/"), "redirects are not followed"),
        (status(307, Location="ws://localhost:1/"), "redirects are not followed"),
        (status(200), "status 200"),
    ],
    ids=["500", "401", "internal", "elsewhere", "200"],
)
def test_a_server_that_refuses_is_not_asked_elsewhere(
    refuse: Callable[..., Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected: list[Any] = []
    create = socket.create_connection
    monkeypatch.setattr(
        socket, "create_connection", lambda place, **more: (connected.append(place), create(place, **more))[1]
    )
    with serving(PolicyServer()) as server:
        server.refuse = refuse
        error = failure_of(opened(server.url))
        assert isinstance(error, ServerRefused)
        assert said in str(error)
        assert connected == [("127.0.0.1", server.port)]


def test_a_server_that_fails_every_second_call_fails_every_second_episode_alone() -> None:
    def sometimes(connection: Any, message: Any) -> Any:
        return {"actions": still(4)} if len(server.asked) % 2 else "500: gpu-secret"

    environment, ends = Environment("widowx", "table"), []
    with serving(PolicyServer(sometimes)) as server:
        policy = opened(server.url)
        for steps in (4, 4, 4, 4):
            try:
                environment.reset(0)
                spec = policy.spec
                limits = Limits(max_steps=steps)
                run_episode(environment, policy, "x", 0, (), limits, spec.chunking, spec.cameras)
                ends.append("played")
            except PolicyFailure as failure:
                ends.append(str(failure))
        policy.close()
    assert ends == ["played", "infer raised ServerRefused"] * 2


def raw(treat: Callable[[RawServer, socket.socket], None]) -> RawServer:
    server = RawServer(lambda taken: treat(server, taken))
    return server


def shake(taken: socket.socket) -> None:
    """As a server does whose websocket opens."""
    import base64
    import hashlib

    asked = taken.recv(4096).decode()
    key = next(line.split()[1] for line in asked.split("\r\n") if line.startswith("Sec-WebSocket-Key"))
    digest = hashlib.sha1(f"{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()).digest()  # noqa: S324 - the protocol's
    accept = base64.b64encode(digest).decode()
    head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    taken.sendall(f"{head}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode())


def trickles_its_handshake(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    server.trickle(taken, b"HTTP/1.1 101 Switching Protocols\r\n" * 50)


def trickles_its_metadata(server: RawServer, taken: socket.socket) -> None:
    shake(taken)
    server.trickle(taken, struct.pack("!BBH", 0x82, 126, 60_000) + b"\x91" * 60_000)


def pings_for_ever(server: RawServer, taken: socket.socket) -> None:
    shake(taken)
    while not server.ended.wait(0.01):
        taken.sendall(b"\x89\x00")


def never_reads(server: RawServer, taken: socket.socket) -> None:
    shake(taken)
    taken.sendall(struct.pack("!BB", 0x82, 1) + b"\x80")  # {}
    server.ended.wait(10)


def speaks_http(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(b"gpu-secret\r\n\r\n")


def sends_what_is_masked(server: RawServer, taken: socket.socket) -> None:
    shake(taken)
    taken.sendall(b"\x82\x81\0\0\0\0\x80")
    server.ended.wait(2)


def endless_headers(server: RawServer, taken: socket.socket) -> None:
    taken.recv(4096)
    taken.sendall(b"HTTP/1.1 101 Switching Protocols\r\n" + b"X: gpu-secret\r\n" * 10_000)
    server.ended.wait(2)


@pytest.mark.parametrize(
    ("treat", "kind"),
    [
        (trickles_its_handshake, ServerLate),
        (trickles_its_metadata, ServerLate),
        (pings_for_ever, ServerLate),
        (never_reads, ServerLate),
        (speaks_http, ServerRefused),
        (sends_what_is_masked, ServerAway),
        (endless_headers, ServerRefused),
        (lambda server, taken: None, (ServerAway, ServerRefused)),
    ],
    ids=["handshake", "metadata", "pings", "never-reads", "http", "masked", "headers", "hangs-up"],
)
def test_a_server_on_the_level_of_bytes_holds_nobody(treat: Any, kind: Any) -> None:
    large = {"cameras": [{"name": "workspace", "height": 2048, "width": 2048}]}
    with serving(raw(treat)) as server:
        assert isinstance(failure_of(opened(server.url, **large)), kind)


def test_nobody_at_home_is_no_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = failure_of(opened(f"ws://127.0.0.1:{port}"))
    assert isinstance(error, ServerAway)
    assert "cannot be reached" in str(error)


def test_tls_that_cannot_be_trusted_is_refused_and_trusted_one_is_spoken(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    with serving(PolicyServer(ssl=context)) as server:
        url = f"wss://localhost:{server.port}"
        error = failure_of(opened(url))
        assert isinstance(error, ServerRefused)
        assert "certificate is not valid" in str(error)
        assert isinstance(failure_of(opened(server.url)), ServerRefused | ServerAway | ServerLate)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "cert.pem"))
        policy = opened(url)
        policy.reset("x", 0)
        assert policy.infer(policy.spec.grey_observation("x")).shape == (4, 7)
        policy.close()
    with serving(PolicyServer()) as server:
        assert isinstance(failure_of(opened(f"wss://localhost:{server.port}")), ServerAway | ServerLate)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ws://gpu-3:8000", "gpu-3:8000 is not in ARENA_POLICY_HOSTS"),
        ("ws://169.254.169.254/", "is not in ARENA_POLICY_HOSTS"),
        ("ftp://127.0.0.1:8000", "no address such as ws://gpu-3:8000 or http://gpu-3:8000/act"),
        ("ws://me:secret@127.0.0.1", "holds no password"),
        ("ws://127.0.0.1:port", "is no address"),
        ("file:///etc/passwd", "no address such as"),
    ],
)
def test_only_allowed_hosts_are_asked(url: str, said: str) -> None:
    with pytest.raises(BadCard, match=said):
        opened(url)


def test_a_host_that_is_allowed_no_more_is_not_asked_any_more(settings: Any) -> None:
    with serving(PolicyServer()) as server:
        policy = opened(server.url)
        settings.POLICY_HOSTS = []
        assert "not allowed any more" in str(failure_of(policy))
        assert not server.connections


def test_a_key_that_is_not_set_is_told_without_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(PolicyServer()) as server:
        policy = opened(server.url, key_variable="FAR_API_KEY")
        assert "FAR" not in str(failure_of(policy))
        monkeypatch.setenv("FAR_API_KEY", "sesame")
        policy.reset("x", 0)
        policy.close()
        assert server.keys == ["Api-Key sesame"]


def test_every_episode_has_a_connection_and_rest_gives_it_back() -> None:
    with serving(PolicyServer(metadata=METADATA)) as server:
        policy = opened(server.url)
        for _ in range(3):
            policy.reset("x", 0)
            policy.infer(policy.spec.grey_observation("x"))
            policy.rest()
        assert server.connections == 3
