"""How soon an event reaches many sockets of one battle: opens them, sends turns, prints one JSON object.

A turn's row says when it was made; on one machine its clock is ours, so what is measured is from the row to the socket.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from websockets.asyncio.client import ClientConnection, connect

from tests.visitor import Visitor

INSTRUCTION = "pick up the green sphere"
WITHIN_S = 60.0


async def listen(socket: ClientConnection, heard: list[tuple[str, str, float]]) -> None:
    """Note of every event but frames its type, its turn and when it came (Unix time)."""
    async for text in socket:
        now, event = time.time(), json.loads(text)
        turn = event["turn"] if event["type"] == "turn.opened" else None
        if event["type"] in ("turn.opened", "turn.finished"):
            heard.append((event["type"], turn["turn_id"] if turn else event["turn_id"], now))


async def measure(url: str, sockets: int, turns: int) -> dict[str, Any]:
    visitor = Visitor(url)
    battle_id = visitor.open_battle()
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.cookies)
    address = f"ws{url.rstrip('/').removeprefix('http')}/ws/battles/{battle_id}/"
    opened: list[ClientConnection] = []
    for _ in range(sockets):
        opened.append(await connect(address, additional_headers={"Cookie": cookies}, origin=url.rstrip("/")))  # type: ignore[arg-type]
    heard: list[tuple[str, str, float]] = []
    listeners = [asyncio.create_task(listen(socket, heard)) for socket in opened]
    made: dict[str, float] = {}
    for _ in range(turns):
        turn_id = await asyncio.to_thread(visitor.send_turn, battle_id, INSTRUCTION)
        turn = await asyncio.to_thread(visitor.wait_for_turn, turn_id)
        made[turn_id] = datetime.fromisoformat(turn["created_at"]).timestamp()
        await _all_heard(heard, turn_id, sockets)
    for listener in listeners:
        listener.cancel()
    await asyncio.gather(*(socket.close() for socket in opened))
    latency = [1000 * (at - made[turn]) for kind, turn, at in heard if kind == "turn.opened"]
    ends = [[at for kind, each, at in heard if kind == "turn.finished" and each == turn] for turn in made]
    return {
        "sockets": sockets,
        "turns": turns,
        "turn_opened_ms": _spread(latency),
        "first_to_last_ms": _spread([1000 * (max(times) - min(times)) for times in ends]),
    }


async def _all_heard(heard: list[tuple[str, str, float]], turn_id: str, sockets: int) -> None:
    deadline = time.monotonic() + WITHIN_S
    while sum(kind == "turn.finished" and turn == turn_id for kind, turn, _ in heard) < sockets:
        if time.monotonic() > deadline:
            raise SystemExit(f"not every socket heard of the end of {turn_id} within {WITHIN_S:.0f} s")
        await asyncio.sleep(0.02)


def _spread(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile and highest, in milliseconds."""
    cuts = statistics.quantiles(values, n=20) if len(values) > 1 else values
    return {"p50": round(statistics.median(values), 1), "p95": round(cuts[-1], 1), "max": round(max(values), 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--sockets", type=int, default=300)
    parser.add_argument("--turns", type=int, default=20)
    options = parser.parse_args()
    print(json.dumps(asyncio.run(measure(options.url, options.sockets, options.turns))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
