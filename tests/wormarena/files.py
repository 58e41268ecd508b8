"""Files of games as SnakeBench writes them, each field of which a test may change."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

Json = dict[str, Any]
COST = 0.001


def player(name: str, result: str, score: int, death: Json | None = None) -> Json:
    totals = {"input_tokens": 100, "output_tokens": 50, "cost": 0.25}
    found: Json = {"model_id": f"lab/{name}", "name": name, "result": result, "final_score": score, "totals": totals}
    return {**found, "death": death}


def move(to: str, rationale: str = "because") -> Json:
    return {"move": to, "rationale": rationale, "input_tokens": 10, "output_tokens": 5, "cost": COST}


def state(snakes: dict[str, list[list[int]]], **alive: bool) -> Json:
    dead = {"alive": {slot: alive.get(f"slot_{slot}", True) for slot in snakes}}
    return {"snakes": snakes, "apples": [[5, 5]], **dead, "scores": {"0": 0, "1": 0}}


def game(game_id: str = "g-1", a: str = "alpha", b: str = "beta", **changes: Any) -> Json:
    """`a` wins, since `b` hits a wall in round 1. `changes`: of `game`, by name."""
    start = {"0": [[2, 2]], "1": [[8, 1]]}
    after = {"0": [[2, 3]], "1": [[9, 1]]}
    return {
        "version": 1,
        "game": {
            "id": game_id,
            "started_at": "2026-01-02T03:04:05.000006",
            "ended_at": "2026-01-02T03:05:05.000006",
            "game_type": "ladder",
            "max_rounds": 100,
            "rounds_played": 2,
            "board": {"width": 10, "height": 10, "num_apples": 1},
            **changes,
        },
        "players": {
            "0": player(a, "won", 0),
            "1": player(b, "lost", 0, {"reason": "wall", "round": 1}),
        },
        "totals": {"cost": 0.5, "input_tokens": 200, "output_tokens": 100},
        "initial_state": state(start),
        "frames": [
            {"round": 0, "timestamp": 1.0, "state": state(after), "moves": {"0": move("UP"), "1": move("RIGHT")}},
            {
                "round": 1,
                "timestamp": 2.0,
                "state": state(after, slot_1=False),
                "moves": {"0": move("UP", "Provider error: 503"), "1": move("RIGHT")},
            },
        ],
        "metadata": {"game_id": game_id},
    }


def with_states_before(document: Json) -> Json:
    """The same game as files before December 2025 tell it."""
    before = [document["initial_state"], *(frame["state"] for frame in document["frames"])]
    last = document["frames"][-1]
    frames = [*document["frames"], {**last, "round": last["round"] + 1}]
    return {**document, "frames": [{**frame, "state": state} for frame, state in zip(frames, before, strict=True)]}


def changed(document: Json, at: str, value: Any) -> Json:
    """The same with another value at a place such as `players.1.result`."""
    found = copy.deepcopy(document)
    *way, last = at.split(".")
    inner: Any = found
    for step in way:
        inner = inner[int(step) if isinstance(inner, list) else step]
    inner[last] = value
    return found


def with_results(document: Json, a: str, b: str) -> Json:
    return changed(changed(document, "players.0.result", a), "players.1.result", b)


def without(document: Json, *names: str) -> Json:
    return {name: value for name, value in document.items() if name not in names}


def put(folder: Path, *documents: Json) -> list[Path]:
    return [written(folder, document["game"]["id"], json.dumps(document)) for document in documents]


def written(folder: Path, game_id: str, text: str) -> Path:
    path = folder / f"snake_game_{game_id}.json"
    path.write_bytes(text.encode())
    return path
