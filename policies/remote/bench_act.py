"""What OpenVLA's dialect takes, measured on loopback. Needs Django's settings."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from policies.remote import json_codec
from policies.remote.card import card_from
from policies.remote.policy import open_card

INSTRUCTION, WARM_UP = "pick up the red cube", 5
STILL = json.dumps([0.0] * 7).encode()


class _Handler(BaseHTTPRequestHandler):
    """Reads the whole message, and answers one still action at once: what is left is the protocol."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._tell(405, b"{}")

    def do_POST(self) -> None:
        json_codec.unpack(self.rfile.read(int(self.headers["Content-Length"])))
        self._tell(200, STILL)

    def _tell(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def act_ms(inferences: int) -> tuple[list[float], float]:
    """Of an inference with a picture of 224 x 224: wall times [ms], and the processor time of client and server
    together [ms], which other work on the machine changes little."""
    taken = []
    with _served() as url:
        policy = open_card(card_from("still-act", url, {}, {}))
        policy.reset(INSTRUCTION, 0)
        seen = policy.spec.grey_observation(INSTRUCTION)
        for _ in range(WARM_UP):
            policy.infer(seen)
        processor = time.process_time()
        for _ in range(inferences):
            began = time.perf_counter()
            policy.infer(seen)
            taken.append((time.perf_counter() - began) * 1e3)
        processor = (time.process_time() - processor) / inferences * 1e3
        policy.close()
    return taken, processor


@contextmanager
def _served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/act"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
