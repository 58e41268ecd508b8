"""Two policies with known success, an account, and a queue whose messages are played here and now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from celery import current_app
from django.contrib.auth.models import User

from policies.models import Policy
from studies import advancing, queueing
from studies.asking import Wanted, ask
from studies.models import Study
from tests.factories import PolicyFactory

Asks = Callable[..., Study]


@dataclass
class Queue:
    """What was sent: the queue and the arguments of each message."""

    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def send_task(self, name: str, **options: Any) -> None:
        if name == queueing.ADVANCE:
            self.sent.append((options["queue"], options))

    def play(self, most: int = 1000) -> int:
        """Play messages, also those that are sent meanwhile, until there are none. Answers how many there were."""
        for number in range(most):
            if not self.sent:
                return number
            advancing.advance(self.sent.pop(0)[1]["args"][0])
        return most


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> Queue:
    made = Queue()
    monkeypatch.setattr(current_app, "send_task", made.send_task)
    return made


@pytest.fixture
def all_replays() -> None:
    """A test that takes it has the report with as many pictures as the site shows."""


@pytest.fixture(autouse=True)
def _one_replay(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing a report takes longer than the study of it: one pair is shown, unless a test is about the pictures."""
    if "all_replays" not in request.fixturenames:
        monkeypatch.setattr(advancing, "REPLAYS", 1)


@pytest.fixture
def policies(db: None) -> list[Policy]:
    """One that succeeds and one that never does."""
    return [PolicyFactory(id="good", adapter="expert"), PolicyFactory(id="bad", adapter="still")]


@pytest.fixture
def owner(db: None) -> User:
    return User.objects.create_user("visitor-1")


@pytest.fixture
def asks(policies: list[Policy], owner: User, queue: Queue) -> Asks:
    def made(by: User = owner, **changes: Any) -> Study:
        usual = {"a_id": "good", "b_id": "bad", "robot_id": "widowx", "scene_id": "table", "tasks": ["pick"]}
        return ask(by, Wanted(**{**usual, "seeds": 8, **changes}))

    return made
