"""Preference pairs of robot episodes: the preferred and the other one, the instruction, and the state both began in.

A vote judges a battle. Each turn that both sides completed is a row, and `turns` says how many the vote was about: with
one, the preference is about this very pair. Ties and "both bad" are no preferences; the published counts have them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.actions.owners import REMOVED
from arena.gallery.entering import PREFERRED
from arena.kinds import Kind
from arena.models import Side, Turn, Vote, VoteChoice
from arena.rules import sides_of, turn_status
from arena.store import Document, get_store
from exports import publishable
from exports.reading import with_turns

FORMATS = (".jsonl", ".parquet")
Row = dict[str, Any]
RECORDED = ("same_start", "start_hash", "start_qpos", "start_qvel", "chosen", "rejected")


def pairs(kind: Kind, known: Mapping[str, Row] | None = None) -> Iterator[Row]:
    """All pairs of a kind that may leave, by battle. `known`: earlier rows by turn; their recordings are not read.

    Turns whose words or recordings are gone are left out. Raises StoreUnavailable.
    """
    for vote, turns in with_turns(publishable.votes_of(kind).filter(vote__in=list(PREFERRED))):
        completed = [turn for turn in turns if turn_status(turn) == "completed"]
        for turn in completed:
            if turn.instruction == REMOVED:
                continue
            recorded = _known(turn, known or {}) or _recorded(vote, turn)
            if recorded is not None:
                yield _about(kind, vote, turn, len(completed)) | recorded


def write_pairs(path: Path, rows: Iterable[Row]) -> int:
    """Write rows to a file of one of FORMATS; answers how many."""
    if path.suffix == ".parquet":
        from exports.parquet_pairs import write_parquet  # loads pyarrow, which the web does not need

        return write_parquet(path, iter(rows))
    number = 0
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(line(row))
            number += 1
    return number


def line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _about(kind: Kind, vote: Vote, turn: Turn, turns: int) -> Row:
    better = PREFERRED[VoteChoice(vote.vote)]
    names = {better: "chosen", other(better): "rejected"}
    return {
        "battle_id": vote.battle_id,
        "turn_id": turn.turn_id,
        "turn": turn.seq,
        "turns": turns,
        "day": vote.counted_vote.count.day.isoformat(),
        "robot_id": vote.setting,
        "scene_id": vote.scene,
        "task_id": kind.task_of(turn.instruction, vote.scene),
        "instruction": turn.instruction,
        "seed": turn.seed,
        "reasons": [
            {"respect": respect, "better": names.get(Side(side), side) if side in Side.values else side}
            for respect, side in sorted(vote.reasons.items())
        ],
    }


def other(side: Side) -> Side:
    return Side.RIGHT if side == Side.LEFT else Side.LEFT


def _known(turn: Turn, known: Mapping[str, Row]) -> Row | None:
    """What an earlier row says of the recordings of this turn, which never change."""
    row = known.get(turn.turn_id)
    sides = {attempt.episode_id for attempt in turn.attempts.all()}
    if row is None or {row["chosen"]["episode_id"], row["rejected"]["episode_id"]} != sides:
        return None
    return {name: row[name] for name in RECORDED}


def _recorded(vote: Vote, turn: Turn) -> Row | None:
    """None where a recording is gone."""
    better, sides = PREFERRED[VoteChoice(vote.vote)], sides_of(turn)
    documents = {side: get_store().get(attempt.episode_id) for side, attempt in sides.items()}
    chosen, rejected = documents[better], documents[other(better)]
    if chosen is None or rejected is None:
        return None
    first = chosen["states"][0]
    return {
        "same_start": chosen["start_hash"] == rejected["start_hash"],
        "start_hash": chosen["start_hash"],
        "start_qpos": list(first["qpos"]),
        "start_qvel": list(first["qvel"]),
        "chosen": _episode(chosen),
        "rejected": _episode(rejected),
    }


def _episode(document: Document) -> Row:
    return {
        "episode_id": document["_id"],
        "model_id": document["model_id"],
        "revision": document.get("policy_revision", ""),
        "side": document["side"],
        "success": document["success"],
        "progress": document["progress"],
        "steps": len(document["actions"]),
        "start_hash": document["start_hash"],
    }
