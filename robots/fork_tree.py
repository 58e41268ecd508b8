"""The forks of a battle as a tree."""

from __future__ import annotations

from collections import defaultdict
from typing import TypedDict

from arena.models import Attempt, Battle, Side, Turn
from arena.rules import sides_of, told_status
from arena.selectors import fork_json
from arena.shapes import Exploration
from robots.forks import able_to_play, movable


class ForkSide(TypedDict):
    """`success` and `progress` are null while the turn is played, and where physics judges nothing."""

    model_id: str
    episode_id: str
    success: bool | None
    progress: float | None


class ForkNode(TypedDict):
    """A turn of the tree. `parent`: the turn in whose recording it starts, null for a root; `depth`: how many lie
    above it. `exploration` is null for a turn that the vote judged."""

    turn_id: str
    parent: str | None
    depth: int
    seq: int
    instruction: str
    status: str
    exploration: Exploration | None
    left: ForkSide
    right: ForkSide


class ForkModel(TypedDict):
    model_id: str
    name: str


class ForkTree(TypedDict):
    """`turns`: each turn is followed by the forks that start in it, and theirs. `models`: those that a fork may let
    play, by name. `movable`: the things that it may move."""

    battle_id: str
    turns: list[ForkNode]
    models: list[ForkModel]
    movable: list[str]


def tree_of(battle: Battle) -> ForkTree:
    """All turns of a voted battle, and what a fork of it may change: two queries."""
    children: dict[str | None, list[Turn]] = defaultdict(list)
    for turn in battle.turns_with_sides():
        children[turn.forked_from_id].append(turn)
    roots = sorted(children[None], key=lambda turn: (turn.is_fork, turn.seq))
    waiting, found = [(turn, 0) for turn in reversed(roots)], list[ForkNode]()
    while waiting:
        turn, depth = waiting.pop()
        found.append(_node(turn, depth))
        waiting += [(each, depth + 1) for each in reversed(children[turn.turn_id])]
    models = [ForkModel(model_id=model_id, name=name) for model_id, name in able_to_play(battle)]
    return {"battle_id": battle.battle_id, "turns": found, "models": models, "movable": movable(battle)}


def _node(turn: Turn, depth: int) -> ForkNode:
    sides, status = sides_of(turn), told_status(turn)
    return {
        "turn_id": turn.turn_id,
        "parent": turn.forked_from_id,
        "depth": depth,
        "seq": turn.seq,
        "instruction": turn.instruction,
        "status": status,
        "exploration": fork_json(turn),
        "left": _side(sides[Side.LEFT], status),
        "right": _side(sides[Side.RIGHT], status),
    }


def _side(attempt: Attempt, status: str) -> ForkSide:
    ended = status in ("completed", "failed")
    return {
        "model_id": attempt.model_id,
        "episode_id": attempt.episode_id,
        "success": attempt.success if ended else None,
        "progress": attempt.progress if ended else None,
    }
