"""The fan-out part of `make load`: the latency of an event on its way to many sockets of one battle.

It is measured from the creation of the turn's row to each socket, on one machine and therefore by one clock.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from datetime import datetime
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.visitor import Visitor

INSTRUCTION = "pick up the green sphere"
WITHIN_S = 60.0


async def listen(socket: ClientConnection, received: list[tuple[str, str, float]]) -> None:
    """Append type, turn and arrival (Unix time) of every opened and finished turn."""
    async for text in socket:
        now, event = time.time(), json.loads(text)
        turn = event["turn"] if event["type"] == "turn.opened" else None
        if event["type"] in ("turn.opened", "turn.finished"):
            received.append((event["type"], turn["turn_id"] if turn else event["turn_id"], now))


async def measure(url: str, sockets: int, turns: int = 20) -> dict[str, Any]:
    """Open the sockets, play turns, and return the latencies [ms]."""
    visitor = Visitor(url)
    battle_id = visitor.open_battle()
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.cookies)
    address = f"ws{url.rstrip('/').removeprefix('http')}/ws/battles/{battle_id}/"
    opened: list[ClientConnection] = []
    for _ in range(sockets):
        opened.append(await connect(address, additional_headers={"Cookie": cookies}, origin=url.rstrip("/")))  # type: ignore[arg-type]
    received: list[tuple[str, str, float]] = []
    listeners = [asyncio.create_task(listen(socket, received)) for socket in opened]
    made: dict[str, float] = {}
    for _ in range(turns):
        turn_id = await asyncio.to_thread(visitor.send_turn, battle_id, INSTRUCTION)
        turn = await asyncio.to_thread(visitor.wait_for_turn, turn_id)
        made[turn_id] = datetime.fromisoformat(turn["created_at"]).timestamp()
        await _all_received(received, turn_id, sockets)
    for listener in listeners:
        listener.cancel()
    await asyncio.gather(*(socket.close() for socket in opened))
    latency = [1000 * (at - made[turn]) for kind, turn, at in received if kind == "turn.opened"]
    ends = [[at for kind, each, at in received if kind == "turn.finished" and each == turn] for turn in made]
    return {
        "sockets": sockets,
        "turns": turns,
        "turn_opened_ms": _spread(latency),
        "first_to_last_ms": _spread([1000 * (max(times) - min(times)) for times in ends]),
    }


async def _all_received(received: list[tuple[str, str, float]], turn_id: str, sockets: int) -> None:
    deadline = time.monotonic() + WITHIN_S
    while sum(kind == "turn.finished" and turn == turn_id for kind, turn, _ in received) < sockets:
        if time.monotonic() > deadline:
            raise SystemExit(f"not every socket received the end of {turn_id} within {WITHIN_S:.0f} s")
        await asyncio.sleep(0.02)


def _spread(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile and highest, in milliseconds."""
    cuts = statistics.quantiles(values, n=20) if len(values) > 1 else values
    return {"p50": round(statistics.median(values), 1), "p95": round(cuts[-1], 1), "max": round(max(values), 1)}
