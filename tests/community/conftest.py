"""A voted battle that anybody may see, and people who say something about it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from arena.models import Battle, Turn, Vote
from tests.arena.conftest import contestants, runtime, visitor  # noqa: F401
from tests.factories import VoteFactory

INSTRUCTION = "put the red cube on the left plate"


@pytest.fixture
def vote(db: None) -> Vote:
    return VoteFactory()


@pytest.fixture
def battle(vote: Vote) -> Battle:
    return vote.battle


@pytest.fixture
def turn(battle: Battle) -> Turn:
    return battle.turns.get()


@pytest.fixture
def author(db: None) -> User:
    return User.objects.create_user("ada@example.org", "ada@example.org", "a long password", first_name="Ada")


@pytest.fixture
def comments_on(settings: Any) -> None:
    settings.COMMENTS = True
