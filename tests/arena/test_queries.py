"""Reading costs a few queries, however much there is to read."""

from __future__ import annotations

from typing import Any

import pytest

from arena.models import Battle
from tests.arena.conftest import Visitor, play_battle, side_of
from tests.factories import BattleFactory, PolicyFactory, TurnFactory
from tests.fakes import FakeStage

MOST = 10


@pytest.fixture
def rich(visitor: Visitor, stage: FakeStage) -> str:
    """A session with 6 battles of 6 turns each; answers the first battle's id."""
    battle_id = play_battle(visitor)
    first = Battle.objects.select_related("session", "left_model", "right_model").get()
    for _ in range(5):
        left, right = PolicyFactory(), PolicyFactory()
        battle = BattleFactory(session=first.session, left_model=left, right_model=right, status="abandoned")
        TurnFactory.create_batch(6, battle=battle, completed=True)
    TurnFactory.create_batch(5, battle=first, completed=True)
    for _ in range(5):
        visitor.open()
    return battle_id


def test_every_reading_call_needs_at_most_ten_queries(
    visitor: Visitor, rich: str, django_assert_max_num_queries: Any
) -> None:
    battle = visitor.battle(rich)
    turn = battle["turns"][0]
    for call in (
        f"battles/{rich}",
        f"battles/session/{battle['session_id']}",
        f"sessions/{battle['session_id']}",
        "sessions/?mine",
        f"turns/{turn['turn_id']}",
        f"episodes/{turn['left']['episode_id']}",
        f"episodes/{turn['left']['episode_id']}/states.bin",
        f"episodes/{turn['left']['episode_id']}/replay.bin",
        "models",
        "models/alpha",
        "robots",
        "scenes",
        "tasks",
    ):
        with django_assert_max_num_queries(MOST):
            assert visitor.get(call).status_code == 200, call


def test_a_snapshot_costs_the_same_with_one_turn_and_with_many(
    visitor: Visitor, rich: str, django_assert_num_queries: Any
) -> None:
    other = Battle.objects.filter(turns=None, session__user_id=side_of(rich, "left").turn.session.user_id)[0]
    TurnFactory(battle=other, completed=True)
    for battle_id in (rich, other.battle_id):
        with django_assert_num_queries(3):
            visitor.battle(battle_id)


def test_acting_costs_a_bounded_number_of_queries(
    visitor: Visitor, rich: str, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(25):
        visitor.send(visitor.open())
    with django_assert_max_num_queries(25):
        assert visitor.post("votes", {"battle_id": rich, "vote": "tie"}).status_code == 201
