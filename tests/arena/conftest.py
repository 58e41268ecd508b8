"""A visitor to the arena, two contestants, and rollouts played here and now instead of by a worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from channels.layers import channel_layers
from django.http import HttpResponse
from django.test import Client

from arena.models import Attempt, Battle
from robots import play as episodes
from tests.factories import PolicyFactory
from tests.fakes import FakeRuntime
from vlaarena.settings import RELEASE as SHIPPED_CLOCK


@dataclass
class Visitor:
    """A browser or a program that keeps its cookie."""

    client: Client = field(default_factory=Client)

    def get(self, address: str, **headers: str) -> HttpResponse:
        return self.client.get(f"/api/{address}", headers=headers)

    def post(self, address: str, body: Any = None, **headers: str) -> HttpResponse:
        return self.client.post(
            f"/api/{address}", {} if body is None else body, content_type="application/json", headers=headers
        )

    def open(self) -> str:
        """Open a session; answers the id of its first battle."""
        opened = self.post("sessions/init", {"robot_id": "widowx", "scene_id": "table"})
        assert opened.status_code == 201, opened.content
        battle_id: str = opened.json()["battle_id"]
        return battle_id

    def send(self, battle_id: str, instruction: str = "pick up the red cube", **more: Any) -> dict[str, Any]:
        sent = self.post(f"battles/{battle_id}/turns", {"instruction": instruction, **more})
        assert sent.status_code == 202, sent.content
        return dict(sent.json())

    def battle(self, battle_id: str) -> dict[str, Any]:
        seen = self.get(f"battles/{battle_id}")
        assert seen.status_code == 200, seen.content
        return dict(seen.json())


@pytest.fixture(autouse=True)
def _own_channel_layer() -> Iterator[None]:
    """The layer keeps locks of the event loop that first used it, and every asynchronous test has a loop of its own."""
    channel_layers.backends.clear()
    yield
    channel_layers.backends.clear()


@pytest.fixture
def visitor(contestants: list[Any]) -> Visitor:
    return Visitor()


@pytest.fixture
def contestants(transactional_db: None) -> list[Any]:
    return [PolicyFactory(id="alpha"), PolicyFactory(id="beta")]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> FakeRuntime:
    """The fake worker runtime in which `play` plays."""
    fake = FakeRuntime()
    monkeypatch.setattr(episodes, "runtime", lambda: fake)
    return fake


@pytest.fixture
def default_clock(settings: Any) -> None:
    """Turns are shown by the clock that is shipped; in other tests they are told as soon as they have settled."""
    settings.RELEASE = SHIPPED_CLOCK


def play(turn: dict[str, Any]) -> None:
    """Play both sides of a sent turn, as a worker would."""
    episodes.play(turn["left_episode_id"])
    episodes.play(turn["right_episode_id"])


def play_battle(visitor: Visitor, instruction: str = "pick up the red cube") -> str:
    """Open a session and play a turn of its first battle; answers the battle's id. Needs the fixture `runtime`."""
    battle_id = visitor.open()
    play(visitor.send(battle_id, instruction))
    return battle_id


def cast(visitor: Visitor, battle_id: str, choice: str = "tie") -> None:
    """The battle's vote, after which everything may be seen."""
    answer = visitor.post("votes", {"battle_id": battle_id, "vote": choice})
    assert answer.status_code == 201, answer.content


def battle_row(battle_id: str) -> Battle:
    return Battle.objects.select_related("session", "left_model", "right_model").get(battle_id=battle_id)


def side_of(battle_id: str, side: str) -> Attempt:
    """The last turn's rollout of this side."""
    return Attempt.objects.filter(turn__battle__battle_id=battle_id, side=side).order_by("-turn__seq")[0]
