"""A language server on loopback that speaks OpenAI's chat completions: it answers each request with the next of its
scripts, a list of deltas."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NAME = "parrot-1"
Delta = dict[str, Any]


def words(*pieces: str) -> list[Delta]:
    """Deltas of an answer; the first has the role alone, as servers send it."""
    return [{"role": "assistant", "content": None}, *({"content": piece} for piece in pieces)]


def call(name: str, arguments: dict[str, Any], at: int = 0) -> list[Delta]:
    """Deltas of a call of a function, whose arguments come in two pieces."""
    text = json.dumps(arguments)
    first = {"index": at, "id": f"id_{at}", "type": "function", "function": {"name": name, "arguments": text[:3]}}
    return [{"tool_calls": [first]}, {"tool_calls": [{"index": at, "function": {"arguments": text[3:]}}]}]


class ModelServer(ThreadingHTTPServer):
    """`requests`: the bodies that came. `status`: of every answer."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, scripts: Sequence[Sequence[Delta]]) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.scripts = [list(script) for script in scripts]
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://arena:s3cret@127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves in the middle is nothing to report."""


class _Answering(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: two would wait for an acknowledgement

    def do_GET(self) -> None:
        self._send(
            "application/json", json.dumps({"object": "list", "data": [{"id": NAME, "object": "model"}]}).encode()
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append(body)
        self.server.keys.append(self.headers["Authorization"])
        script = self.server.scripts.pop(0) if self.server.scripts else words("I do not know.")
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in script]
        lines = [f"data: {json.dumps({'id': 'x', 'object': 'chat.completion.chunk', **chunk})}\n\n" for chunk in chunks]
        self._send("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())

    def _send(self, kind: str, body: bytes) -> None:
        self.send_response(self.server.status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def model_server(*scripts: Sequence[Delta]) -> Iterator[ModelServer]:
    server = ModelServer(scripts)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
