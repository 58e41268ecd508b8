"""Every kind has boards of its own: votes of one kind rank no contestant of another."""

from __future__ import annotations

from typing import Any

from rankings.publication import aggregation
from tests.arena.conftest import Visitor
from tests.factories import PolicyFactory, VoteFactory
from tests.kinds.conftest import House


def ranked(visitor: Visitor, query: str = "") -> set[str]:
    answer = visitor.get(f"leaderboard{query}")
    assert answer.status_code == 200, answer.content
    board: dict[str, Any] = answer.json()
    return {row["model_id"] for part in ("rankings", "provisional") for row in board[part] if row["vote_count"]}


def test_contestants_are_ranked_on_the_boards_of_their_kind_alone(echoes: House, visitor: Visitor) -> None:
    battle_id = echoes.open(visitor)
    echoes.play(visitor.send(battle_id, "good morning valley"))
    visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"})
    VoteFactory(battle__left_model=PolicyFactory(id="alpha"), battle__right_model=PolicyFactory(id="beta"))
    aggregation.aggregate()
    assert ranked(visitor, "?kind=echo") == {contestant.id for contestant in echoes.pair}
    assert ranked(visitor, "?kind=robots") == {"alpha", "beta"}
    assert ranked(visitor) == {"alpha", "beta"}


def test_a_board_of_an_unknown_kind_is_refused_with_the_known_ones(visitor: Visitor) -> None:
    answer = visitor.get("leaderboard?kind=nope")
    assert (answer.status_code, answer.json()["code"]) == (422, "unknown_kind")
    assert {"echo", "robots"} <= set(answer.json()["known"])
