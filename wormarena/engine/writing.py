"""A played game as a file of SnakeBench, version 1."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wormarena.engine.game import SLOTS, Played, PlayedRound
from wormarena.engine.players import Choice, Player
from wormarena.engine.rules import Position, result_of

Json = dict[str, Any]


def write(document: Json, folder: Path) -> Path:
    """Under its own name at once and whole: who watches the folder never reads half a file. Folder and file are their
    owner's alone, as everything in the data folder.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"snake_game_{document['game']['id']}.json"
    beside = path.with_suffix(".part")
    beside.touch(mode=0o600)
    beside.write_text(json.dumps(document, separators=(",", ":")) + "\n", "utf-8")
    beside.replace(path)
    return path


def document_of(played: Played, players: Mapping[str, Player], game_id: str, game_type: str) -> Json:
    results, spent = result_of(played.position), {slot: _spent(played, slot) for slot in SLOTS}
    deaths = {slot: _death(played, slot) for slot in SLOTS}
    ended_at = played.rounds[-1].at if played.rounds else played.started_at
    times = _time(played.started_at), _time(ended_at)
    board, rounds, scores = played.board, len(played.rounds), played.position.scores
    total = {name: _sum(spent[slot][name] for slot in SLOTS) for name in ("cost", "input_tokens", "output_tokens")}
    return {
        "version": 1,
        "game": {
            "id": game_id,
            "started_at": times[0],
            "ended_at": times[1],
            "game_type": game_type,
            "max_rounds": board.max_rounds,
            "rounds_played": rounds,
            "board": {"width": board.width, "height": board.height, "num_apples": board.num_apples},
        },
        "players": {
            slot: {
                "model_id": players[slot].model_id,
                "name": players[slot].name,
                "result": results[slot],
                "final_score": scores[slot],
                "death": deaths[slot],
                "totals": spent[slot],
            }
            for slot in SLOTS
        },
        "totals": total,
        "initial_state": state_json(played.start),
        "frames": [_frame(number, each) for number, each in enumerate(played.rounds)],
        "metadata": {
            "game_id": game_id,
            "start_time": times[0],
            "end_time": times[1],
            "models": {slot: players[slot].name for slot in SLOTS},
            "game_result": results,
            "final_scores": dict(scores),
            "death_info": {slot: death for slot, death in deaths.items() if death},
            "max_rounds": board.max_rounds,
            "actual_rounds": rounds,
            "total_cost": total["cost"],
            "player_costs": {slot: spent[slot] for slot in SLOTS},
        },
    }


def state_json(position: Position) -> Json:
    return {
        "snakes": {slot: [list(cell) for cell in body] for slot, body in position.snakes.items()},
        "apples": [list(cell) for cell in position.apples],
        "alive": {slot: slot not in position.dead for slot in position.snakes},
        "scores": dict(position.scores),
    }


def _frame(number: int, played: PlayedRound) -> Json:
    moves = {slot: _choice(choice) for slot, choice in played.choices.items()}
    return {"round": number, "timestamp": played.at, "state": state_json(played.after), "moves": moves}


def _choice(choice: Choice) -> Json:
    return {
        "move": choice.move,
        "rationale": choice.rationale,
        "input_tokens": choice.input_tokens,
        "output_tokens": choice.output_tokens,
        "cost": choice.cost,
    }


def _death(played: Played, slot: str) -> Json | None:
    """Rounds count from 0, and nobody plays on after a death."""
    reason = played.rounds[-1].deaths.get(slot) if played.rounds else None
    return {"reason": reason, "round": len(played.rounds) - 1} if reason else None


def _spent(played: Played, slot: str) -> Json:
    choices = [each.choices[slot] for each in played.rounds]
    return {
        "input_tokens": sum(choice.input_tokens for choice in choices),
        "output_tokens": sum(choice.output_tokens for choice in choices),
        "cost": _sum(choice.cost for choice in choices),
    }


def _sum(costs: Any) -> Any:
    return round(total, 12) if isinstance(total := sum(costs), float) else total


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
