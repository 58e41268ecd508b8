"""`make bench-release`: measures how far steps lag behind the clock of their turn.

It starts a new arena with the shipped policies, plays turns one after another as one visitor, listens on the socket as
a page does, and reports the delay of each step. A step that is late by more than half a step's time is a stall: pages
freeze for a moment, which could reveal the policies. Run it on an otherwise idle machine. ARENA_RELEASE_BUFFER_S and
ARENA_RELEASE_SPEED set the clock.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from websockets.sync.client import connect

from tests.stack import Arena
from tests.visitor import Visitor

INSTRUCTIONS = ("pick up the red cube", "put the red cube on the left plate", "stack the red cube on the yellow cube")
ROWS_PER_STEP = 5
LATE = 0.5  # of a step's time
Json = dict[str, Any]


@dataclass
class Turn:
    """`late`: delay of each step [s]. `end_s`: time from sending the instruction to the event of the end [s]."""

    status: str = ""
    late: list[float] = field(default_factory=list)
    end_s: float = 0.0
    models: tuple[str, str] = ("", "")


def play(url: str, visitor: Visitor, instruction: str) -> Turn:
    battle_id = visitor.open_battle()
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.cookies)
    address = url.replace("http", "ws", 1) + f"ws/battles/{battle_id}/"
    headers = {"Cookie": cookies, "Origin": url.rstrip("/")}
    with connect(address, additional_headers=headers, max_size=None) as socket:
        socket.recv()
        began = time.time()
        visitor.send_turn(battle_id, instruction)
        turn = listen(socket)
        turn.end_s = time.time() - began
    status, body = visitor.post("/api/votes", {"battle_id": battle_id, "vote": "tie"})
    if status == 201:
        models = body["revealed_models"]
        turn.models = (models["left"]["model_id"], models["right"]["model_id"])
    return turn


def listen(socket: Any) -> Turn:
    turn, release_from, step_s = Turn(), 0.0, 0.0
    while True:
        message: Json = json.loads(socket.recv(timeout=600))
        now = time.time()
        if message["type"] == "turn.opened":
            step_s = message["turn"]["step_s"]
        elif message["type"] == "rollout.started":
            release_from = datetime.fromisoformat(message["release_from"]).timestamp()
        elif message["type"] == "rollout.frames":
            first = message["from_row"]
            step = 0 if first == 0 else (first - 1) // ROWS_PER_STEP + 1
            turn.late.append(now - release_from - step * step_s)
        elif message["type"] == "turn.finished":
            turn.status = message["status"]
            return turn


def print_report(turns: list[Turn], step_s: float) -> None:
    late = [each for turn in turns for each in turn.late]
    stalled = [turn for turn in turns if max(turn.late, default=0.0) > LATE * step_s]
    print(f"{len(turns)} turns, {sum(turn.status == 'completed' for turn in turns)} completed, {len(late)} messages")
    print(f"late: median {1e3 * statistics.median(late):.1f} ms, most {1e3 * max(late):.1f} ms")
    print(f"stalled: {len(stalled)} turns, {sum(each > LATE * step_s for each in late)} steps")
    for turn in stalled:
        print(f"  {' and '.join(turn.models)}: {1e3 * max(turn.late):.0f} ms")
    ends = [turn.end_s for turn in turns]
    print(f"from instruction to end: median {statistics.median(ends):.1f} s, most {max(ends):.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=40)
    options = parser.parse_args()
    clock = {
        "ARENA_RELEASE_BUFFER_S": os.environ.get("ARENA_RELEASE_BUFFER_S", "1"),
        "ARENA_RELEASE_SPEED": os.environ.get("ARENA_RELEASE_SPEED", "1"),
    }
    with tempfile.TemporaryDirectory() as folder:
        arena = Arena(Path(folder), ARENA_SESSIONS_PER_ADDRESS="", **clock)
        try:
            arena.start()
            visitor, turns = Visitor(arena.url), []
            play(arena.url, visitor, INSTRUCTIONS[0])  # a warm-up, in which workers load their policies
            for number, instruction in zip(range(options.turns), itertools.cycle(INSTRUCTIONS), strict=False):
                turns.append(play(arena.url, visitor, instruction))
                print(f"{number + 1}: {turns[-1].status}, at most {1e3 * max(turns[-1].late):.0f} ms late", flush=True)
            print_report(turns, 0.2 / float(clock["ARENA_RELEASE_SPEED"]))
        finally:
            arena.close()


if __name__ == "__main__":
    main()
