"""The Python client against a running arena: its example, its events, and what it says when it is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from threading import Thread

import numpy as np
import pytest

from tests.ports import free_port
from tests.stack import BASE_DIR, wait_until
from tests.stack import Arena as Stack
from vla_arena import Arena, Conflict, Invalid, NotFound, Unreachable
from vla_arena.types import Event

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]
CLIENT = BASE_DIR / "clients" / "python"


@pytest.fixture
def arena(arena_stack: Stack) -> Iterator[Arena]:
    with Arena(arena_stack.url) as opened:
        yield opened


def test_a_battle_is_played_watched_and_voted_on(arena: Arena) -> None:
    battle = arena.open_battle(robot_id="widowx", scene_id="table")
    heard: list[Event] = []
    ear = Thread(target=lambda: [heard.append(event) for event in battle.events()])
    ear.start()
    wait_until(lambda: heard)  # the socket has sent its snapshot
    turn = battle.play("pick up the red cube")
    assert turn["status"] == "completed"
    left, right = battle.episodes(turn)
    assert left.qpos.shape == right.qpos.shape
    assert (len(left.time), left.exact) == (len(left.qpos), None)
    np.testing.assert_allclose(left.qpos[0], right.qpos[0])
    with pytest.raises(Invalid) as refused:
        battle.vote("best")  # type: ignore[arg-type]
    assert (refused.value.code, refused.value.status) == ("invalid_vote", 422)
    assert "tie" in refused.value.details["known"]
    cast = battle.vote("tie", {"smoother": "left"})
    assert battle.snapshot()["left_model"]["model_id"] == cast["revealed_models"]["left"]["model_id"]
    with pytest.raises(Conflict, match="already_voted"):
        battle.vote("tie")
    exact = arena.episode(left.episode_id).exact
    assert exact is not None
    assert (exact.actions.shape[1], exact.outcome["success"] in (True, False)) == (7, True)
    ear.join(30)
    assert heard[0]["type"] == "snapshot"
    assert {"turn.opened", "rollout.frames", "turn.finished", "battle.voted"} <= {event["type"] for event in heard}
    assert arena.sessions()[0]["session_id"] == battle.session_id
    assert arena.next_battle(battle.session_id).battle_id != battle.battle_id


def test_the_example_plays_and_votes(arena_stack: Stack) -> None:
    example = [sys.executable, str(CLIENT / "examples" / "play_and_vote.py"), arena_stack.url, "pick up the red cube"]
    done = subprocess.run(
        example, env={"PYTHONPATH": str(CLIENT / "src")}, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "left: " in done.stdout
    assert "better" in done.stdout


def test_another_visitors_battle_is_not_found(arena: Arena, arena_stack: Stack) -> None:
    battle = arena.open_battle()
    with Arena(arena_stack.url) as other, pytest.raises(NotFound, match="not_found"):
        other.call("GET", f"battles/{battle.battle_id}")


def test_nobody_at_home_is_unreachable() -> None:
    with Arena(f"http://127.0.0.1:{free_port()}") as nobody, pytest.raises(Unreachable, match="sessions/init"):
        nobody.open_battle()
