"""A simulated crowd: clients with cookies and source addresses of their own, that play and vote through HTTP.

No worker is needed: `settle` ends both sides of a turn at once, as physics would have with the given outcomes.
The fixture `behind_a_proxy` (tests/conftest.py) lets X-Forwarded-For be believed, as behind one proxy of ours.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from arena import actions
from arena.actions import Outcome
from arena.models import Battle, Vote
from arena.visitors.cookies import COOKIE

INSTRUCTION = "put the red cube on the left plate"
STEPS = 10

Choose = Callable[[Battle], str]
"""What to vote on a battle, of which the crowd knows more than any visitor: the names."""


def hosts(network: str) -> Iterator[str]:
    """Addresses of one /24, given as its first three numbers ("198.51.100"), over and over."""
    while True:
        yield from (f"{network}.{host}" for host in range(1, 255))


def network(number: int) -> str:
    """The first three numbers of one of many networks, no two alike."""
    return f"10.{number // 256}.{number % 256}"


@dataclass
class Member:
    """One cookie at one address. The cookie comes with its first session."""

    address: str
    client: Client = field(default_factory=Client)

    def get(self, path: str) -> Any:
        return self.client.get(f"/api/{path}", headers=self._headers())

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.client.post(
            f"/api/{path}",
            {} if body is None else body,
            content_type="application/json",
            headers=self._headers() | headers,
        )

    @property
    def visitor(self) -> str:
        """The signed cookie; "" before the first session."""
        return self.client.cookies[COOKIE].value if COOKIE in self.client.cookies else ""

    def open(self) -> str:
        """A session; answers the id of its first battle."""
        opened = self.post("sessions/init", {"robot_id": "widowx", "scene_id": "table"})
        assert opened.status_code == 201, opened.content
        return str(opened.json()["battle_id"])

    def send(self, battle_id: str, instruction: str = INSTRUCTION) -> dict[str, Any]:
        sent = self.try_to_send(battle_id, instruction)
        assert sent.status_code == 202, sent.content
        return dict(sent.json())

    def try_to_send(self, battle_id: str, instruction: str = INSTRUCTION) -> Any:
        return self.post(f"battles/{battle_id}/turns", {"instruction": instruction})

    def vote(self, battle_id: str, choice: str, **headers: str) -> Any:
        return self.post("votes", {"battle_id": battle_id, "vote": choice}, **headers)

    def play_and_vote(self, choose: Choose, success: tuple[bool, bool] = (False, False)) -> Vote:
        """A session, one settled turn, and a vote on it."""
        battle_id = self.open()
        settle(self.send(battle_id), success)
        battle = Battle.objects.select_related("session").get(battle_id=battle_id)
        voted = self.vote(battle_id, choose(battle))
        assert voted.status_code == 201, voted.content
        return Vote.objects.get(battle=battle)

    def _headers(self) -> dict[str, str]:
        return {"X-Forwarded-For": self.address}


def settle(turn: dict[str, Any], success: tuple[bool, bool] = (False, False)) -> None:
    """Complete both sides of a sent turn (the answer to it), left and right with these successes. No recording is
    kept. A turn that waits for others is played nevertheless."""
    for side, done in zip(("left", "right"), success, strict=True):
        rollout = actions.claim_attempt(turn[f"{side}_episode_id"], "crowd")
        assert rollout is not None, "this turn has been played already"
        actions.finish_attempt(rollout, _outcome(done))


def lift(model_id: str, otherwise: Choose | None = None) -> Choose:
    """The vote of somebody who wants this model to win; on battles without it by `otherwise`, or at random."""
    chance = random.Random(model_id)

    def choose(battle: Battle) -> str:
        if model_id in (battle.left_model_id, battle.right_model_id):
            return "left_better" if battle.left_model_id == model_id else "right_better"
        return otherwise(battle) if otherwise else chance.choice(("left_better", "right_better"))

    return choose


def stuff(votes: int, networks: list[str], choose: Choose) -> list[Vote]:
    """So many votes, each with a fresh cookie, dealt to the networks in turn ("198.51.100", ...), each from a next
    address of its network."""
    addresses = [hosts(each) for each in networks]
    members = (Member(next(addresses[number % len(addresses)])) for number in range(votes))
    return [member.play_and_vote(choose) for member in members]


def _outcome(success: bool) -> Outcome:
    return Outcome(
        steps=STEPS,
        success=success,
        progress=1.0 if success else 0.2,
        termination_reason="success" if success else "step_limit",
        duration_ms=2000.0,
        start_hash="0" * 64,
    )
