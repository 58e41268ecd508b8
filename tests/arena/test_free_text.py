"""What no goal matches has no verdict: neither reached nor missed, wherever it is told."""

from __future__ import annotations

from typing import Any

import pytest

from arena.models import Attempt
from tests.arena.conftest import Visitor, cast, play, play_battle
from tests.crowd import settle
from tests.fakes import FakeRuntime

FREE = "do a little dance"
NOTHING = {"success": None, "progress": None}


def verdicts(told: dict[str, Any]) -> list[dict[str, Any]]:
    sides = [turn[side]["outcome"] for turn in told["turns"] for side in ("left", "right")]
    return [{name: outcome[name] for name in NOTHING} for outcome in sides]


@pytest.mark.parametrize("starts", [1, 3])
def test_old_rows_that_say_missed_are_told_as_having_no_verdict(visitor: Visitor, starts: int) -> None:
    battle_id = visitor.open()
    sent = visitor.send(battle_id, FREE, starts=starts)
    for turn in sent.get("starts", [sent]):
        settle(turn)
    cast(visitor, battle_id)
    battle = visitor.battle(battle_id)
    assert verdicts(battle) == [NOTHING] * (2 * starts)
    shared = Visitor().get(f"shared/{battle_id}").json()
    assert verdicts(shared) == verdicts(battle)
    assert [start[side] for start in shared["starts"] or [] for side in ("left", "right")] == [NOTHING] * (
        2 * (starts if starts > 1 else 0)
    )
    assert set(Attempt.objects.values_list("success", flat=True)) == {False}, "what was recorded stays as it is"


def test_an_episode_that_is_played_now_keeps_no_verdict_either(visitor: Visitor, runtime: FakeRuntime) -> None:
    runtime.environment("widowx", "table").goal = None
    battle_id = visitor.open()
    play(visitor.send(battle_id, FREE))
    assert [(each.success, each.progress, each.status) for each in Attempt.objects.all()] == [
        (None, None, "completed")
    ] * 2
    cast(visitor, battle_id)
    assert verdicts(visitor.battle(battle_id)) == [NOTHING] * 2


def test_a_sentence_with_a_goal_keeps_its_verdict(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    cast(visitor, battle_id)
    assert all(isinstance(each["success"], bool) for each in verdicts(visitor.battle(battle_id)))
