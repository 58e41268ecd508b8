"""A scripted server on loopback that speaks OpenAI's protocol, well or badly: the name of the model chooses how."""

from __future__ import annotations

import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from texts.client import close_clients

QUICK = "The sky is blue because air scatters blue light the most."
SLOW = "Rain falls softly, **again** and again, on roofs and on rivers, until the evening comes. " * 3


class ScriptedServer(ThreadingHTTPServer):
    """`requests`: the bodies that came, in order. `judged`: the texts that were to be moderated. `keys`: with which
    bearer keys. `down`: answers 503 to everything."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.judged: list[str] = []
        self.down = False
        self.closed_early = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is nothing to report."""


@contextmanager
def scripted_server(certificate: Path | None = None) -> Iterator[ScriptedServer]:
    """`certificate`: a file with it and its key, for TLS."""
    server = ScriptedServer()
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        close_clients()
        server.shutdown()
        thread.join()
        server.server_close()


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedServer

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.server.down:
            self.tell(503, {"error": {"message": "Loading model", "code": 503}})
            return
        self.tell(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in SCRIPTS]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.endswith("/moderations"):
            self.judge(asked)
            return
        self.server.requests.append(asked)
        self.server.keys.append(self.headers.get("Authorization", "").removeprefix("Bearer "))
        if self.server.down:
            self.tell(503, {"error": {"message": "Loading model", "code": 503}})
            return
        try:
            SCRIPTS[asked["model"]](self)
        except OSError:
            self.server.closed_early.set()
            self.close_connection = True

    def judge(self, asked: dict[str, Any]) -> None:
        """As a moderation endpoint, for which a text with "scatters" is bad."""
        self.server.judged.append(asked["input"])
        if self.server.down:
            self.tell(503, {"error": {"message": "Loading model", "code": 503}})
            return
        flagged = "scatters" in asked["input"]
        self.tell(200, {"id": "m", "model": asked["model"], "results": [{"flagged": flagged}]})

    def tell(self, status: int, body: Any, headers: Sequence[tuple[str, str]] = ()) -> None:
        raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers or [("Content-Type", "application/json")]:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def begin(self) -> None:
        """A stream of events, which ends with the connection."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def raw(self, line: str) -> None:
        self.wfile.write(line.encode())
        self.wfile.flush()

    def event(self, data: Any) -> None:
        self.raw(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")

    def delta(self, reason: str | None = None, **delta: Any) -> None:
        self.event({"id": "c", "object": "chat.completion.chunk", "choices": [choice(delta, reason)]})

    def end(self, reason: str = "stop", usage: Any = None) -> None:
        self.delta(reason)
        if usage is not None:
            self.event({"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": usage})
        self.event("[DONE]")


def choice(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": reason}


def answers(text: str, pause_s: float = 0.0) -> Callable[[Answering], None]:
    """As a good server does: the role first, word by word, and the counts at the end."""

    def script(at: Answering) -> None:
        at.begin()
        at.delta(role="assistant", content=None)
        for word in text.split(" "):
            at.delta(content=f"{word} ")
            time.sleep(pause_s)
        at.end(usage={"prompt_tokens": 7, "completion_tokens": len(text.split(" ")), "total_tokens": 9})

    return script


def without_usage(at: Answering) -> None:
    at.begin()
    at.delta(role="assistant")
    at.delta(content=None)
    for word in ("one ", "two ", "three"):
        at.delta(content=word)
    at.end()


def numbers_its_answers(at: Answering) -> None:
    """ "Answer 2" the second time, in a while."""
    number = sum(request["model"] == "numbers" for request in at.server.requests)
    time.sleep(0.3)
    answers(f"Answer {number}")(at)


def breaks_off(at: Answering) -> None:
    at.begin()
    at.delta(content="This is only half of")
    at.close_connection = True


def fails_inside(at: Answering) -> None:
    at.begin()
    at.delta(content="This is only half of")
    at.event({"error": {"message": "CUDA out of memory on gpu-secret", "type": "server_error", "code": 500}})


def huge_delta(at: Answering) -> None:
    at.begin()
    at.delta(content="x" * 10_000_000)
    at.end()


def endless(at: Answering) -> None:
    at.begin()
    while True:
        at.delta(content="and so on ")


def trickles(at: Answering) -> None:
    at.begin()
    while True:
        at.delta(content="word ")
        time.sleep(0.02)


def silent(at: Answering) -> None:
    """Lives, and says nothing: comments keep the connection from timing out."""
    at.begin()
    while True:
        at.raw(": ping\n\n")
        time.sleep(0.05)


def control_characters(at: Answering) -> None:
    at.begin()
    at.event('{"choices": [{"index": 0, "delta": {"content": "a\\u0000b\\u001b[31mc\\ud83d d\\u202ee\\n"}}]}')
    at.end()


def compressed(at: Answering) -> None:
    at.tell(200, "x", [("Content-Type", "text/event-stream"), ("Content-Encoding", "gzip")])


def redirects(at: Answering) -> None:
    at.tell(307, "", [("Location", "http://169.254.169.254/latest/meta-data/")])


def empty(at: Answering) -> None:
    at.begin()
    at.delta(role="assistant")
    at.end()


def says(data: str) -> Callable[[Answering], None]:
    def script(at: Answering) -> None:
        at.begin()
        at.event(data)
        at.end()

    return script


def refuses(status: int, body: Any, *headers: tuple[str, str]) -> Callable[[Answering], None]:
    return lambda at: at.tell(status, body, headers)


def stutters(at: Answering) -> None:
    """Like no other in pace: nothing, then all at once."""
    time.sleep(0.4)
    answers(SLOW)(at)


ERROR = {"error": {"message": "gpu-secret says no", "type": "error"}}
SCRIPTS: dict[str, Callable[[Answering], None]] = {
    "quick": answers(QUICK),
    "slow": answers(SLOW, 0.01),
    "stutters": stutters,
    "without-usage": without_usage,
    "numbers": numbers_its_answers,
    "control-characters": control_characters,
    "endless": endless,
    "trickles": trickles,
    "silent": silent,
    "compressed": compressed,
    "breaks-off": breaks_off,
    "fails-inside": fails_inside,
    "huge-delta": huge_delta,
    "redirects": redirects,
    "empty": empty,
    "html": refuses(200, "<html>login</html>", ("Content-Type", "text/html")),
    "html-in-events": says("<html>oops</html>"),
    "wrong-shape": says('{"choices": "no", "usage": 7}'),
    "choices-of-null": says('{"choices": [null]}'),
    "list": says("[1, 2]"),
    "limited": refuses(429, ERROR, ("Retry-After", "7"), ("Content-Type", "application/json")),
    "wrong-key": refuses(401, ERROR),
    "broken": refuses(500, "gpu-secret: Traceback"),
    "error-as-text": refuses(400, {"error": "gpu-secret: model not found"}),
    "error-of-ollama": refuses(404, {"message": "gpu-secret", "object": "error"}),
}
FAILING = sorted(
    {*SCRIPTS}
    - {"quick", "slow", "stutters", "without-usage", "numbers", "control-characters", "endless", "trickles", "silent"}
)
