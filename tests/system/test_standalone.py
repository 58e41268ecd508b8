"""`play` and `verify` work from a bare folder, with no arena running and no database made."""

from __future__ import annotations

import json

import pytest

from tests.stack import Arena
from tests.system.conftest import MakeArena


def play(arena: Arena) -> dict[str, dict[str, object]]:
    sides = ("--left", "scripted-expert", "--right", "hold-still")
    answer: dict[str, dict[str, object]] = json.loads(
        arena.manage("play", "Stack the red cube on the yellow cube", *sides, "--seed", "7", "--json")
    )
    return answer


def test_an_episode_played_without_an_arena_is_kept_and_found_again_bit_for_bit(make_arena: MakeArena) -> None:
    arena = make_arena()
    answer = play(arena)
    assert all(row["stored"] for row in answer.values())
    ids = [str(row["episode_id"]) for row in answer.values()]
    report = json.loads(arena.manage("verify", *ids, "--json"))
    assert report == {"checked": 2, "identical": 2, "different": []}
    assert arena.processes() == []
    assert not (arena.folder / "running.json").exists()


@pytest.mark.stack
def test_beside_a_running_arena_they_use_its_store(arena_stack: Arena) -> None:
    answer = play(arena_stack)
    report = json.loads(arena_stack.manage("verify", str(answer["left"]["episode_id"]), "--json"))
    assert report["identical"] == 1
    assert arena_stack.health()[0] == 200
