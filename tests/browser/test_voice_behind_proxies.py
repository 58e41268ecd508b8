"""Calls through nginx and Caddy with the rules that are shipped, to the process that holds calls. Needs
`make install-voice` and scripts/for_test_slow.sh."""

from __future__ import annotations

import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.ports import free_port
from tests.stack import BASE_DIR, Arena
from tests.visitor import Visitor
from vlaarena.bundled import wait_for
from voice.proxy.microphone import PIECE_BYTES
from voice.scenarios.reading import shipped

pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(900)]
PATIENT_S = 240.0
"""For an answer by real speech on a busy machine."""
Json = dict[str, Any]


@contextmanager
def serving(command: list[str], port: int, log: Path, **environment: str) -> Iterator[None]:
    with log.open("wb") as file:
        process = subprocess.Popen(command, stdout=file, stderr=file, env={**os.environ, **environment})
    try:
        assert wait_for(port), log.read_text()
        yield
    finally:
        process.terminate()
        process.wait(30)


def found(name: str) -> str:
    path = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    assert path, f"no {name} here; run: scripts/for_test_slow.sh"
    return path


def rules(name: str, **instead: str) -> str:
    """The rules of deploy/ with addresses of this machine."""
    text = (BASE_DIR / "deploy" / name).read_text()
    for old, new in instead.items():
        assert old in text, f"deploy/{name} has no {old}"
        text = text.replace(old, new)
    return text


@contextmanager
def nginx(folder: Path, web: str, calls: str) -> Iterator[tuple[str, ssl.SSLContext | None]]:
    port, key = free_port(), folder / "privkey.pem"
    about = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = [found("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *about]
    certificate = folder / "fullchain.pem"
    subprocess.run([*made, "-out", str(certificate), "-keyout", str(key)], check=True, capture_output=True)
    instead = {"web:8000": web, "127.0.0.1:8001": calls, "listen 443": f"listen 127.0.0.1:{port}"}
    site = rules("nginx/arena.conf", **instead, **{"arena.example.org": "localhost", "/etc/ssl/arena/": f"{folder}/"})
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/nginx-{kind};\n" for kind in kinds)
    main = f"daemon off; pid {folder}/nginx.pid; error_log stderr;\nevents {{}}\n"
    (folder / "nginx.conf").write_text(f"{main}http {{\naccess_log off;\n{paths}{site}}}\n")
    with serving([found("nginx"), "-c", str(folder / "nginx.conf")], port, folder / "log"):
        yield f"wss://localhost:{port}", ssl.create_default_context(cafile=str(certificate))


@contextmanager
def caddy(folder: Path, web: str, calls: str) -> Iterator[tuple[str, ssl.SSLContext | None]]:
    """Without TLS, whose certificates Caddy would ask the internet for."""
    port = free_port()
    (folder / "Caddyfile").write_text(
        "{\nadmin off\n}\n" + rules("Caddyfile", **{"web:8000": web, "calls:8001": calls})
    )
    command = [found("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    places = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with serving(command, port, folder / "log", ARENA_DOMAIN=f"http://127.0.0.1:{port}", **places):
        yield f"ws://127.0.0.1:{port}", None


class Line:
    """The browser's end of a call, through a proxy."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.sizes: list[int] = []

    def until(self, **wanted: Any) -> Json:
        """Take what comes until a message with these fields, which is the answer."""
        while True:
            got = self._socket.recv(timeout=PATIENT_S)
            if isinstance(got, bytes):
                self.sizes.append(len(got))
                continue
            message: Json = json.loads(got)
            assert message["type"] != "error", message
            if wanted.items() <= message.items():
                return message

    def tell(self, **message: str) -> None:
        self._socket.send(json.dumps(message))

    def speak(self, audio: bytes) -> None:
        self._socket.send(audio)


@pytest.mark.parametrize("proxy", [nginx, caddy])
def test_a_call_is_held_through_it_and_taken_up_again(
    proxy: Callable[..., Any], voice_arena: Arena, tmp_path: Path
) -> None:
    visitor = Visitor(voice_arena.url)
    place = {"kind": "voice", "category_id": "booking", "scenario_id": "haircut"}
    status, battle = visitor.post("/api/sessions/init", place)
    assert status == 201, battle
    _, call = visitor.post(f"/api/battles/{battle['battle_id']}/calls", {"label": "a", "consent": True})
    held_at = urlsplit(call["socket"])
    with proxy(tmp_path, f"127.0.0.1:{voice_arena.port}", held_at.netloc) as (origin, trusted):
        address = f"{origin}{held_at.path}"
        with connect(address, ssl=trusted) as socket:
            line = Line(socket)
            line.until(type="started")
            line.speak(bytes(1280))
            assert line.until(type="said", role="agent")["text"] == shipped()["haircut"].greeting
        with connect(address, ssl=trusted) as socket:
            again = Line(socket)
            again.until(type="resumed")
            again.tell(type="say", text="Hi, I would like to book a haircut on Thursday at four p.m.")
            assert "haircut" in again.until(type="said", role="caller")["text"]
            again.tell(type="end")
            assert again.until(type="ended")["reason"] == "caller_hung_up"
    assert {*line.sizes, *again.sizes} == {PIECE_BYTES}
