"""People who push one policy, with fresh cookies and through HTTP: what the arena asks of everybody it asks of them.

They know the names of every battle, which is more than they should, and play only those of the policy that they push.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from arena.models import Battle
from arena.visitors import challenges
from tests.crowd import Member, hosts, network, settle
from tests.honest_arena import Clock, Published, Skills

WATCHED_S, LOOKED_S = 3.1, 1.5
"""A turn takes so long by its clock, and they look so long at its end."""
SIDES = ("left_better", "right_better")


@dataclass(frozen=True)
class Push:
    """`votes` by `cookies` that nobody has seen before, from `networks`, on `days` days.

    `knowing`: where one side alone reached the goal they vote for it, so as to be trusted.
    """

    votes: int
    cookies: int
    networks: int = 1
    days: int = 1
    knowing: bool = False


@dataclass
class Pushers:
    """They push `target`. What was refused is counted by status; after that they do what was asked, or wait."""

    target: str
    skills: Skills
    clock: Clock
    published: Published
    opened: int = 0
    accepted: int = 0
    refused: Counter[int] = field(default_factory=Counter)

    def push(self, way: Push) -> None:
        """Returns when all votes were accepted; the boards are published each hour meanwhile, and once more."""
        addresses = [hosts(network(number)) for number in range(way.networks)]
        members = [Member(next(addresses[number % way.networks])) for number in range(way.cookies)]
        midnight = self.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
        for number in range(way.votes):
            day, first = divmod(number * way.days, way.votes)
            if day and first < way.days:
                self.clock.to(midnight + timedelta(days=day, hours=6))
            self._vote(members[number % way.cookies], way.knowing)
            self.published.when_due()
        self.published.next_hour()

    def _vote(self, member: Member, knowing: bool) -> None:
        battle = self._battle_with_it(member)
        successes = self.skills.successes(battle.left_model_id, battle.right_model_id)
        turn = self._insist(member, lambda **answer: member.try_to_send(battle.battle_id))
        settle(turn.json(), successes)
        self.clock.forward(WATCHED_S + LOOKED_S)
        own = SIDES[battle.left_model_id != self.target]
        choice = SIDES[successes.index(True)] if knowing and any(successes) else own
        self._insist(member, lambda **answer: member.vote(battle.battle_id, choice, **answer))
        self.accepted += 1

    def _battle_with_it(self, member: Member) -> Battle:
        """They leave every other battle as soon as it is opened."""
        robot = {"robot_id": "widowx", "scene_id": "table"}
        while True:
            opened = self._insist(member, lambda **answer: member.post("sessions/init", robot, **answer))
            self.opened += 1
            battle = Battle.objects.get(battle_id=opened.json()["battle_id"])
            if self.target in (battle.left_model_id, battle.right_model_id):
                return battle

    def _insist(self, member: Member, call: Callable[..., Any]) -> Any:
        """What is answered at last to those who wait as long as they are told and solve what they are asked."""
        answer: dict[str, str] = {}
        while (told := call(**answer)).status_code not in (201, 202):
            self.refused[told.status_code] += 1
            if told.status_code == 428:
                answer = {challenges.HEADER: solve(told.json()["challenge"])}
            else:
                assert told.status_code in (429, 503), told.content
                self.clock.forward(float(told["Retry-After"]))
        return told


def solve(challenge: dict[str, Any]) -> str:
    """A proof of work."""
    answers = (f"{challenge['token']}.{counter}" for counter in range(10**9))
    return next(answer for answer in answers if challenges.leading_zeros(answer) >= challenge["bits"])
