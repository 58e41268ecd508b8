"""What comes after a battle holds for every kind: its effect on the boards, recordings that expire, the next."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from arena import retention
from arena.models import Battle
from rankings.publication import aggregation
from tests.arena.conftest import Visitor
from tests.kinds.conftest import SIDES, House

WORDS = "pick up the red cube"


def test_a_vote_is_taken_into_the_boards_and_its_effect_is_told(house: House, visitor: Visitor) -> None:
    battle_id = house.open(visitor)
    house.play(visitor.send(battle_id, WORDS))
    visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"})
    report = aggregation.aggregate()
    assert (report.votes_processed, report.votes_failed) == (1, 0)
    assert visitor.get(f"battles/{battle_id}/effect").status_code == 200


def test_recordings_without_a_vote_expire(house: House, visitor: Visitor) -> None:
    battle_id = house.open(visitor)
    turn = visitor.send(battle_id, WORDS)
    house.play(turn)
    assert visitor.get(f"episodes/{turn['left_episode_id']}").status_code == 200
    Battle.objects.filter(battle_id=battle_id).update(updated_at=timezone.now() - timedelta(days=400))
    assert retention.expire(days=365, grace=timedelta()) == retention.Expiry(1, 2, 2)
    assert {visitor.get(f"episodes/{turn[f'{side}_episode_id']}").status_code for side in SIDES} == {410}


def test_the_next_turn_and_the_next_battle_come_after_the_last(house: House, visitor: Visitor) -> None:
    battle_id = house.open(visitor)
    for number in range(1, min(house.kind.most_turns or 2, 2) + 1):
        house.play(visitor.send(battle_id, WORDS))
        assert len(visitor.battle(battle_id)["turns"]) == number
    session_id = visitor.battle(battle_id)["session_id"]
    following = visitor.post(f"sessions/{session_id}/battles").json()
    assert following["kind"] == house.kind.id
    assert visitor.battle(battle_id)["status"] == "abandoned"
