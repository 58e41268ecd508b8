"""Events: their numbers, their shapes, and that a snapshot with the events after it is the fresh snapshot."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest

from arena import actions, kinds, selectors
from arena.actions import Ending
from arena.actions.cancel import cancel_turn
from arena.errors import ArenaError, QueueUnavailable
from arena.live import events
from arena.models import Attempt, AttemptStatus, Battle, StartKind, VoteChoice
from arena.queue import sweeps
from arena.shapes import BattleJson, ShapeError, TurnJson, check
from robots.forks import Fork, add_fork
from tests.arena.conftest import Visitor, battle_row, play_battle
from tests.arena.reducer import Gap, apply
from tests.arena.test_attempts import lose
from tests.fakes import FakeRuntime

Json = dict[str, Any]
PLACE = kinds.default().names
"""Every kind has its own words for where its battles are held."""


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Json]:
    """The events that were published, in order."""
    published: list[Json] = []
    monkeypatch.setattr(events, "publish", lambda battle_id, event, **_: published.append(event))
    monkeypatch.setattr(events, "pass_chunks", lambda *_: None)
    return published


class Play:
    """Does to one battle whatever may be done to it, at random."""

    def __init__(self, battle_id: str, dice: random.Random, starts: int = 1) -> None:
        self.battle_id, self.dice, self.starts = battle_id, dice, starts

    def do_something(self) -> None:
        moves: list[Callable[[], object]] = [self.send, self.claim, self.claim, self.report, self.report]
        moves += [self.finish, self.finish, self.fail, self.lose, self.retry, self.vote, self.explore]
        self.do(self.dice.choice(moves))

    def play_on(self) -> None:
        """Something that brings a turn nearer to its end, or takes its end back."""
        self.do(self.dice.choice([self.send, self.claim, self.claim, self.finish, self.finish, self.fail, self.retry]))

    def do(self, move: Callable[[], object]) -> None:
        with suppress(ArenaError):  # a refusal must leave everything as it is, which the test sees
            move()

    def rollout(self, status: str) -> Attempt | None:
        found = Attempt.objects.select_related("turn").filter(turn__battle__battle_id=self.battle_id, status=status)
        rollouts = [rollout for rollout in found if rollout.status != "held"]
        return self.dice.choice(rollouts) if rollouts else None

    def send(self) -> None:
        start = self.dice.choice(list(StartKind))
        actions.submit_instruction(
            battle_row(self.battle_id), actions.TurnRequest("pick up the red cube", start, self.starts)
        )

    def explore(self) -> None:
        turns = list(battle_row(self.battle_id).turns.all())
        chosen = self.dice.choice([None, *(turn.turn_id for turn in turns)])
        add_fork(battle_row(self.battle_id), Fork(turn_id=chosen, record=self.dice.randrange(9)))

    def claim(self) -> None:
        if rollout := self.rollout("queued"):
            actions.claim_attempt(rollout.episode_id, "worker")

    def report(self) -> None:
        if rollout := self.rollout("running"):
            actions.report_progress(rollout, min(50, rollout.length + self.dice.randrange(12)))

    def finish(self) -> None:
        if rollout := self.rollout("running"):
            outcome = Ending(self.dice.randrange(51), "success", 3.0, True, 1.0)
            actions.finish_attempt(rollout, outcome)

    def fail(self) -> None:
        if rollout := self.rollout("running"):
            actions.fail_attempt(rollout, "policy_failed", "a story that names the policy")

    def lose(self) -> None:
        if rollout := self.rollout("running"):
            lose(rollout)
            sweeps.sweep()

    def retry(self) -> None:
        if rollout := self.rollout("failed"):
            actions.retry_attempt(rollout)

    def cancel(self) -> None:
        turns = battle_row(self.battle_id).turns.order_by("-seq")[:1]
        for turn in turns:
            cancel_turn(turn)

    def leave(self) -> None:
        actions.open_next_battle(battle_row(self.battle_id).session)

    def vote(self) -> None:
        if self.dice.random() < 0.3:
            actions.cast_vote(battle_row(self.battle_id), VoteChoice.TIE)
        elif self.dice.random() < 0.05:
            actions.open_next_battle(battle_row(self.battle_id).session)


@pytest.mark.parametrize("starts", [1, 3])
@pytest.mark.parametrize("seed", range(12))
def test_a_snapshot_and_the_events_after_it_are_the_fresh_snapshot(
    visitor: Visitor, told: list[Json], seed: int, starts: int
) -> None:
    dice = random.Random(seed)
    play = Play(visitor.open(), dice, starts)
    snapshots: list[Any] = [selectors.snapshot(play.battle_id)[0]]
    for _ in range(40):
        play.do_something()
        fresh = selectors.snapshot(play.battle_id)[0]
        check({name: value for name, value in fresh.items() if name not in PLACE}, BattleJson)
        grown = dice.choice(snapshots)
        for event in told:
            grown = apply(grown, event)
        assert grown == fresh
        snapshots.append(fresh)
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))


@dataclass
class Sockets:
    """What the sockets of a battle tell and what they hold, as `arena.live.consumers` has it."""

    told: list[Json] = field(default_factory=list)
    held: list[Json] = field(default_factory=list)

    def publish(self, battle_id: str, event: Json, at: datetime | None = None, instead: bool = False) -> None:
        if instead:
            self.held = [each for each in self.held if each["seq"] < event["seq"]]
        (self.told if at is None else self.held).append(event)


@pytest.mark.parametrize("starts", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_while_ends_are_not_told_what_else_happens_leaves_no_gap_in_the_numbers(
    visitor: Visitor, told: list[Json], monkeypatch: pytest.MonkeyPatch, settings: Any, seed: int, starts: int
) -> None:
    """Cancelled, retried, left: whatever comes after an end that is still hidden gets the numbers that come next."""
    settings.RELEASE = {"buffer_s": 3600.0, "speed": 1.0}
    sockets, dice = Sockets(), random.Random(10 * starts + seed)
    monkeypatch.setattr(events, "publish", sockets.publish)
    play = Play(visitor.open(), dice, starts)
    grown: Any = selectors.snapshot(play.battle_id)[0]
    hidden = 0
    for number in range(62):
        play.do(play.cancel if number in (19, 39) else play.leave if number == 59 else play.play_on)
        fresh = selectors.snapshot(play.battle_id)[0]
        check({name: value for name, value in fresh.items() if name not in PLACE}, BattleJson)
        for event in sockets.told:
            grown = apply(grown, event)
        assert grown == fresh
        hidden += bool(sockets.held)
    assert hidden, "nothing was hidden, so nothing was tested"
    assert [event["seq"] for event in sockets.told] == list(range(1, len(sockets.told) + 1))
    for event in sockets.held:
        grown = apply(grown, event)


def test_the_events_of_a_turn_come_in_order_and_tell_both_sides_together(
    visitor: Visitor, runtime: FakeRuntime, told: list[Json]
) -> None:
    battle_id = play_battle(visitor)
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    assert [event["type"] for event in told] == [
        "turn.opened",
        "rollout.started",
        "rollout.finished",
        "rollout.finished",
        "turn.finished",
        "battle.voted",
    ]
    finished = [event for event in told if event["type"] == "rollout.finished"]
    assert [event["side"] for event in finished] == ["left", "right"]
    assert visitor.client.get(finished[0]["url"]).status_code == 200


def test_the_state_of_a_side_is_told_only_when_it_holds_for_both(visitor: Visitor, told: list[Json]) -> None:
    turn = visitor.send(visitor.open())
    left = actions.claim_attempt(turn["left_episode_id"], "worker")
    assert left is not None
    actions.fail_attempt(left, "policy_failed", "story")
    assert [event["type"] for event in told] == ["turn.opened"]
    right = actions.claim_attempt(turn["right_episode_id"], "worker")
    assert right is not None
    assert told[-1]["type"] == "rollout.started"
    actions.finish_attempt(right, Ending(31, "success", 3.0, True, 1.0))
    assert [event["type"] for event in told[-3:]] == ["rollout.failed", "rollout.failed", "turn.finished"]
    assert [(event["steps"], event["reason"]) for event in told[-3:-1]] == [(None, "turn_failed")] * 2


def test_both_sides_are_told_with_the_steps_of_the_longer_one_until_the_vote_tells_each_its_own(
    visitor: Visitor, told: list[Json]
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    for side, steps in (("left", 12), ("right", 50)):
        rollout = actions.claim_attempt(turn[f"{side}_episode_id"], "worker")
        assert rollout is not None
        actions.finish_attempt(rollout, Ending(steps, "success", 3.0, True, 1.0))
    assert [event["steps"] for event in told if event["type"] == "rollout.finished"] == [50, 50]
    seen = visitor.battle(battle_id)["turns"][0]
    assert (seen["left"]["steps"], seen["right"]["steps"]) == (50, 50)
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    seen = visitor.battle(battle_id)["turns"][0]
    assert (seen["left"]["steps"], seen["right"]["steps"]) == (12, 50)
    assert told[-1]["turns"] == [seen]


def test_a_second_attempt_starts_the_clock_of_the_turn_no_second_time(visitor: Visitor, told: list[Json]) -> None:
    turn = visitor.send(visitor.open())
    for side in ("left", "right"):
        assert actions.claim_attempt(turn[f"{side}_episode_id"], "worker") is not None
    left = Attempt.objects.select_related("turn").get(episode_id=turn["left_episode_id"])
    before, first = len(told), left.turn.release_from
    actions.give_up_attempt(left)
    assert actions.claim_attempt(left.episode_id, "another") is not None
    assert len(told) == before
    seen = Attempt.objects.select_related("turn").get(pk=left.pk)
    assert (seen.status, seen.turn.release_from) == (AttemptStatus.RUNNING, first)


def no_queue(*_: Any) -> None:
    raise QueueUnavailable


def test_a_turn_that_was_withdrawn_leaves_a_gap_so_that_browsers_ask(
    visitor: Visitor, told: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = visitor.open()
    before: Any = visitor.battle(battle_id)
    with monkeypatch.context() as outage:
        outage.setattr("arena.queue.dispatch.send_to_workers", no_queue)
        assert visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"}).status_code == 503
    assert told == []
    visitor.send(battle_id)
    with pytest.raises(Gap):
        apply(before, told[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"turn_id": "turn_1"},
        {"turn_id": "turn_1", "status": "done", "battle": {}},
        {"turn_id": 5, "status": "completed", "battle": {}},
        {"turn_id": "turn_1", "status": "completed", "model": "alpha"},
    ],
)
def test_an_event_of_another_shape_is_never_sent(wrong: Json) -> None:
    with pytest.raises(ShapeError):
        events.build("turn.finished", 1, wrong)


def test_a_shape_error_says_where_and_what_would_have_been_right(visitor: Visitor) -> None:
    visitor.send(visitor.open())
    turn = dict(selectors.turn_json(Battle.objects.get().turns.get(), show_outcome=False))
    check(turn, TurnJson)
    with pytest.raises(ShapeError, match=r"message\.left\.status: expected .*queued.*, got 'done'"):
        check({**turn, "left": {**turn["left"], "status": "done"}}, TurnJson)  # type: ignore[dict-item]
