"""For every kind: a snapshot with the events after it is the fresh snapshot, whatever is done to the battle."""

from __future__ import annotations

import random
from typing import Any

import pytest

from arena import actions, selectors
from arena.live import events
from arena.models import Attempt
from arena.queue import playing
from tests.arena.conftest import Visitor, battle_row
from tests.arena.reducer import apply
from tests.arena.test_events import Play
from tests.kinds.conftest import House

Json = dict[str, Any]


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Json]:
    """The events that were published, in order. Nothing is played but by the test's own moves."""
    published: list[Json] = []
    monkeypatch.setattr(events, "publish", lambda battle_id, event, **_: published.append(event))
    monkeypatch.setattr(events, "pass_chunks", lambda *_: None)
    monkeypatch.setattr(playing, "play_here", lambda episode_ids: None)
    return published


class PlayOfKind(Play):
    def __init__(self, house: House, visitor: Visitor, dice: random.Random) -> None:
        super().__init__(house.open(visitor), dice)
        self.house = house

    def rollout(self, status: str) -> Attempt | None:
        found = Attempt.objects.select_related("turn__battle__session")
        attempts = list(found.filter(turn__battle__battle_id=self.battle_id, status=status))
        return self.dice.choice(attempts) if attempts else None

    def send(self) -> None:
        actions.submit_instruction(battle_row(self.battle_id), actions.TurnRequest("good morning"))

    def explore(self) -> None:
        if self.house.kind.forks:
            super().explore()


@pytest.mark.parametrize("seed", range(8))
def test_a_snapshot_and_the_events_after_it_are_the_fresh_snapshot(
    house: House, visitor: Visitor, told: list[Json], seed: int
) -> None:
    dice = random.Random(seed)
    play = PlayOfKind(house, visitor, dice)
    snapshots: list[Any] = [selectors.snapshot(play.battle_id)[0]]
    for _ in range(40):
        play.do_something()
        fresh = selectors.snapshot(play.battle_id)[0]
        grown = dice.choice(snapshots)
        for event in told:
            grown = apply(grown, event)
        assert grown == fresh
        snapshots.append(fresh)
    assert [event["seq"] for event in told] == list(range(1, len(told) + 1))


def test_a_turn_is_told_before_anything_that_is_played_of_it(
    echoes: House, visitor: Visitor, told: list[Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread of the same process can be quicker than the event, which sockets would then drop as old."""
    monkeypatch.setattr(playing, "play_here", lambda episode_ids: [playing.play(each) for each in episode_ids])
    visitor.send(echoes.open(visitor), "good morning")
    assert [event["seq"] for event in told] == [1, 2, 3, 4, 5]
    assert told[0]["type"] == "turn.opened"
