"""`make bench-text`: measures text battles with many visitors at once, whose models are a scripted server.

It starts a new arena and a server that writes answers word by word and notes when. Each visitor opens a battle, listens
on the socket as a page does, sends a prompt, votes, and begins anew. Reported are the time from the server's words to
the socket's message beyond the clock of the turn (words that were early are due when the clock shows them), the times
of API calls, what failed, and the processor time that each part of the arena took, which says the same on a machine
that other work keeps busy. `--words-s` beyond 20 is quicker than the clock, which shows 120 characters a second.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django
import psutil
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

from tests.stack import Arena, wait_until
from tests.visitor import Visitor

WORDS = 150
WORD = "rains "
CHARACTERS = 12  # of one chunk
MODELS = ("first", "second")
ONLY_SCRIPTED = "from texts.models import LanguageModel as M; M.objects.update(status='retired')"
"""Those beside the arena, if they are installed, would take the processor."""
UNLIMITED = ("SESSIONS_PER_ADDRESS", "TURNS_PER_ADDRESS", "PROMPTS_PER_ADDRESS", "VOTES_PER_ADDRESS")
Json = dict[str, Any]
Written = tuple[str, list[float]]
"""A prompt, and when each word of one answer to it was written [s since 1970]."""


@dataclass
class Heard:
    """What the visitors noted. `pieces`: prompt -> (chunk number, when it came, when the clock shows it), all [s]."""

    pieces: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)
    calls: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    faults: list[str] = field(default_factory=list)


def serve(words_s: float, address: Queue[str], written: Queue[Written]) -> None:
    """The scripted server, in a process of its own."""
    django.setup()
    from tests.texts.servers import SCRIPTS, Answering, ScriptedServer

    class Noting(Answering):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            _write(self, asked["messages"][-1]["content"], words_s, written)

    SCRIPTS.clear()
    SCRIPTS.update(dict.fromkeys(MODELS, Answering.begin))  # the names that it lists
    server = ScriptedServer()
    server.RequestHandlerClass = Noting
    address.put(server.url)
    server.serve_forever(poll_interval=0.5)


def _write(at: Any, prompt: str, words_s: float, written: Queue[Written]) -> None:
    times, began = [], time.time()
    at.begin()
    for number in range(WORDS):
        time.sleep(max(0.0, began + number / words_s - time.time()))
        times.append(time.time())
        at.delta(content=WORD)
    at.end(usage={"prompt_tokens": 7, "completion_tokens": WORDS, "total_tokens": WORDS + 7})
    written.put((prompt, times))


def visit(url: str, name: str, until: float, heard: Heard) -> None:
    """Battle after battle, each of a new visitor."""
    number = 0
    while time.time() < until:
        number += 1
        try:
            play(Visitor(url), url, f"{name}-{number}", heard)
        except (RuntimeError, OSError, WebSocketException) as fault:
            heard.faults.append(f"{type(fault).__name__}: {fault}"[:200])


def play(visitor: Visitor, url: str, prompt: str, heard: Heard) -> None:
    opened = timed(heard, "open", lambda: visitor.post("/api/sessions/init", {"kind": "text"}), 201)
    battle_id = opened["battle_id"]
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.cookies)
    headers = {"Cookie": cookies, "Origin": url.rstrip("/")}
    with connect(f"{url.replace('http', 'ws', 1)}ws/battles/{battle_id}/", additional_headers=headers) as socket:
        socket.recv()
        turns = f"/api/battles/{battle_id}/turns"
        timed(heard, "send", lambda: visitor.post(turns, {"instruction": prompt}), 202)
        listen(socket, prompt, heard)
    timed(heard, "battle", lambda: visitor.get(f"/api/battles/{battle_id}"), 200)
    timed(heard, "vote", lambda: visitor.post("/api/votes", {"battle_id": battle_id, "vote": "tie"}), 201)


def timed(heard: Heard, name: str, call: Callable[[], tuple[int, Json]], expected: int) -> Json:
    began = time.perf_counter()
    status, body = call()
    heard.calls[name].append(time.perf_counter() - began)
    if status != expected:
        raise RuntimeError(f"{name}: {status} {body}")
    return body


def listen(socket: Any, prompt: str, heard: Heard) -> None:
    release_from, step_s, pieces = 0.0, 0.0, []
    while True:
        message: Json = json.loads(socket.recv(timeout=90))
        now = time.time()
        if message["type"] == "turn.opened":
            step_s = message["turn"]["step_s"]
        elif message["type"] == "rollout.started":
            release_from = datetime.fromisoformat(message["release_from"]).timestamp()
        elif message["type"] == "rollout.frames":
            last = message["from_chunk"] + len(message["left"]) - 1
            pieces.append((last, now, release_from + last * step_s))
        elif message["type"] == "turn.finished":
            if message["status"] != "completed":
                heard.faults.append(f"turn {message['status']}")
            heard.pieces[prompt] = pieces
            return


def delays(heard: Heard, written: Sequence[Written]) -> list[float]:
    """Of each message: from the later of the clock and the words of both servers to the socket [s]."""
    answers: dict[str, list[list[float]]] = defaultdict(list)
    for prompt, times in written:
        answers[prompt].append(times)
    found = []
    for prompt, pieces in heard.pieces.items():
        for number, came, due in pieces:
            if number and len(answers[prompt]) == len(MODELS):
                word = min(WORDS, -(-number * CHARACTERS // len(WORD))) - 1
                found.append(came - max(due, *(times[word] for times in answers[prompt])))
    return found


def report(heard: Heard, written: Sequence[Written]) -> None:
    late = delays(heard, written)
    print(f"{len(heard.pieces)} battles, {len(late)} messages, {len(heard.faults)} faults")
    for fault in sorted(set(heard.faults))[:5]:
        print(f"  {heard.faults.count(fault)} x {fault}")
    print(f"from the words to the socket beyond the clock: {_said(late)}")
    for name, seconds in heard.calls.items():
        print(f"{name}: {len(seconds)} calls, {_said(seconds)}")
    print(f"all calls: {_said([each for seconds in heard.calls.values() for each in seconds])}")


def processor_seconds(arena: Arena) -> dict[str, float]:
    """What each part of the arena has taken so far, its children included, and what measures: visitors and server."""
    parts = {part: _taken(psutil.Process(number)) for part, number in arena.children().items()}
    ours = sum(sum(psutil.Process(number).cpu_times()[:2]) for number in (os.getpid(), *_servers()))
    return {**parts, "(the bench itself)": ours}


def _servers() -> list[int]:
    return [child.pid for child in multiprocessing.active_children() if child.pid is not None]


def _taken(process: psutil.Process) -> float:
    return float(sum(sum(each.cpu_times()[:2]) for each in (process, *process.children(recursive=True))))


def report_processor(spent: Mapping[str, float], battles: int) -> None:
    parts = {part: seconds for part, seconds in spent.items() if not part.startswith("(")}
    said = ", ".join(
        f"{part} {1e3 * seconds / battles:.0f}" for part, seconds in sorted(parts.items()) if seconds > 0.1
    )
    print(f"processor time of a battle: {1e3 * sum(parts.values()) / battles:.0f} ms ({said})")
    print(f"the bench itself: {1e3 * spent['(the bench itself)'] / battles:.0f} ms a battle")


def _said(seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return "too few"
    places = statistics.quantiles(seconds, n=100)
    middle, most = statistics.median(seconds), max(seconds)
    return (
        f"median {1e3 * middle:.0f} ms, p95 {1e3 * places[94]:.0f}, p99 {1e3 * places[98]:.0f}, most {1e3 * most:.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--words-s", type=float, default=10.0, help="words of six characters that a model writes a second"
    )
    options = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    address: Queue[str] = context.Queue()
    written: Queue[Written] = context.Queue()
    server = context.Process(target=serve, args=(options.words_s, address, written), daemon=True)
    server.start()
    limits = {f"ARENA_{name}": "" for name in UNLIMITED} | {"ARENA_MAX_TURNS_PER_ADDRESS": "1000"}
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(
            Path(folder), ARENA_KINDS="robots,text", ARENA_WAITING_THREADS=str(2 * options.visitors), **limits
        )
        try:
            arena.start()
            arena.manage("shell", "-c", ONLY_SCRIPTED)
            url = address.get(timeout=60)
            for model in MODELS:
                about = ["--url", url, "--served-name", model, "--name", f"The {model} one"]
                arena.manage("add_model", f"the-{model}", "--kind", "text", *about)
            wait_until(lambda: is_open(arena.url), 120)
            before, load = processor_seconds(arena), os.getloadavg()[0]
            heard = crowd(arena.url, options.visitors, options.seconds)
            spent = {part: seconds - before.get(part, 0.0) for part, seconds in processor_seconds(arena).items()}
            report(heard, _all(written))
            report_processor(spent, len(heard.pieces))
            print(f"load of the machine: {load:.1f} before, {os.getloadavg()[0]:.1f} after")
        finally:
            arena.close()
            server.terminate()


def is_open(url: str) -> bool:
    """Whether the worker has said that it can play both models."""
    return Visitor(url).post("/api/sessions/init", {"kind": "text"})[0] == 201


def crowd(url: str, visitors: int, seconds: float) -> Heard:
    heard, until = Heard(), time.time() + seconds
    threads = [threading.Thread(target=visit, args=(url, f"v{each}", until, heard)) for each in range(visitors)]
    for thread in threads:
        thread.start()
        time.sleep(0.05)
    for thread in threads:
        thread.join()
    return heard


def _all(written: Queue[Written]) -> list[Written]:
    time.sleep(1.0)  # what the server put last is on its way
    found = []
    while not written.empty():
        found.append(written.get())
    return found


if __name__ == "__main__":
    main()
