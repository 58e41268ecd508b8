"""A turn under way can be stopped, and says how long it waits; neither tells who is who."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from arena import actions, kinds
from arena.actions.cancel import cancel_turn
from arena.actions.turns import withdraw
from arena.errors import NotFound
from arena.models import Attempt, Battle, Turn
from rankings.votes import observed
from robots import play as episodes
from tests.arena.conftest import Visitor, play, play_battle, side_of
from tests.fakes import FakePolicy, FakeRuntime
from vlaarena.monitoring import readings


def cancel(visitor: Visitor, turn: dict[str, Any]) -> Any:
    return visitor.post(f"turns/{turn['turn_id']}/cancel")


def queue(visitor: Visitor, turn: dict[str, Any]) -> dict[str, Any]:
    return dict(visitor.get(f"turns/{turn['turn_id']}/queue").json())


@pytest.mark.parametrize("finished", [None, "left", "right"])
def test_both_sides_of_a_cancelled_turn_say_the_same_whoever_was_quicker(
    visitor: Visitor, runtime: FakeRuntime, finished: str | None
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    if finished:
        episodes.play(turn[f"{finished}_episode_id"])
    told = cancel(visitor, turn).json()
    assert (told["status"], told["left"]["error"], told["left"]["steps"]) == ("failed", "cancelled", None)
    assert {**told["left"], "episode_id": ""} == {**told["right"], "episode_id": ""}
    seen = visitor.battle(battle_id)
    assert (seen["can_send"], seen["can_vote"], seen["vote_blocked_because"]) == (True, False, "no_completed_turn")
    for side in ("left", "right"):
        assert visitor.get(f"episodes/{turn[f'{side}_episode_id']}").status_code == 404


def test_a_cancelled_turn_is_not_played_any_more_and_the_next_one_starts_from_where_things_were(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    running = actions.claim_attempt(turn["left_episode_id"], "a worker")
    assert running is not None
    assert cancel(visitor, turn).status_code == 200
    assert not actions.report_progress(running, 3)
    play(turn)
    assert {rollout.status for rollout in Attempt.objects.all()} == {"failed"}
    play(visitor.send(battle_id))
    assert visitor.battle(battle_id)["can_vote"]


def test_a_turn_that_has_ended_cannot_be_cancelled(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    refused = visitor.post(f"turns/{side_of(battle_id, 'left').turn_id}/cancel")
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_settled")
    assert visitor.battle(battle_id)["can_vote"]


def test_a_turn_that_was_withdrawn_meanwhile_is_not_there_to_be_cancelled(visitor: Visitor) -> None:
    visitor.send(visitor.open())
    turn = Turn.objects.get()
    assert withdraw([turn], turn.battle)
    with pytest.raises(NotFound):
        cancel_turn(turn)


def test_a_stranger_neither_cancels_nor_asks(visitor: Visitor, runtime: FakeRuntime) -> None:
    turn = visitor.send(visitor.open())
    stranger = Visitor()
    stranger.open()
    assert cancel(stranger, turn).status_code == 404
    assert stranger.get(f"turns/{turn['turn_id']}/queue").status_code == 404
    assert Turn.objects.get().settled_at is None


def test_who_waits_hears_how_many_are_ahead_and_about_how_long(visitor: Visitor, runtime: FakeRuntime) -> None:
    first = visitor.send(visitor.open())
    assert queue(visitor, first) == {"ahead": 0, "expected_wait_s": 0}
    second, third = visitor.send(visitor.open()), visitor.send(visitor.open())
    assert queue(visitor, third) == {"ahead": 2, "expected_wait_s": None}, "nothing was played yet, so nothing is known"

    play(first)
    ended = Turn.objects.get(turn_id=first["turn_id"])
    ended.attempts.update(started_at=ended.settled_at - timedelta(seconds=7))
    Battle.objects.filter(battle_id=ended.battle_id).update(status="voted")
    assert queue(visitor, second) == {"ahead": 0, "expected_wait_s": 0}
    assert queue(visitor, third) == {"ahead": 1, "expected_wait_s": 7}


def test_the_wait_does_not_depend_on_who_plays(visitor: Visitor, runtime: FakeRuntime, contestants: list[Any]) -> None:
    """The one policy of this battle is slow, the other quick: what its visitor hears is the pace of all turns."""
    runtime.policies = {contestants[0].id: FakePolicy(pause_s=0.005)}
    play(visitor.send(visitor.open()))
    visitor.send(visitor.open())
    waiting = visitor.send(visitor.open())
    before = queue(visitor, waiting)
    rows = list(Attempt.objects.filter(turn__turn_id=waiting["turn_id"]))
    for row, model in zip(rows, reversed([row.model for row in rows]), strict=True):
        Attempt.objects.filter(pk=row.pk).update(model=model)
    assert queue(visitor, waiting) == before


def test_a_cancelled_turn_is_in_no_record_of_its_policies(visitor: Visitor, runtime: FakeRuntime) -> None:
    """Neither as a failure nor as anything else, even where a side had failed or finished before."""
    battle_id = visitor.open()
    play(visitor.send(battle_id, "pick up the red cube"))
    before = (observed.played(kinds.default()), readings.settled_lately())
    turn = visitor.send(battle_id, "pick up the red cube")
    runtime.policies = {side_of(battle_id, "left").model_id: FakePolicy(raises=RuntimeError("no luck"))}
    episodes.play(turn["left_episode_id"])
    assert readings.settled_lately() != before[1]

    assert cancel(visitor, turn).status_code == 200

    assert (observed.played(kinds.default()), readings.settled_lately()) == before
    assert readings.failures() == []
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201
    assert all(row.episodes == 1 for row in observed.played(kinds.default()))
