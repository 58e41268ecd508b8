"""An answer may be liked by whoever got it, once it is shown; nobody learns anything from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.arena.conftest import Visitor
from tests.kinds.conftest import SIDES, House
from tests.texts.conftest import Models
from texts.models import Answer

Houses = Callable[[str, str], House]


def like(visitor: Visitor, episode_id: str, liked: Any = True) -> Any:
    return visitor.client.put(f"/api/episodes/{episode_id}/like", {"liked": liked}, "application/json")


def test_an_answer_is_liked_and_taken_back_and_the_other_one_is_not(house: Houses, visitor: Visitor) -> None:
    houses = house("quick", "without-usage")
    turn = visitor.send(houses.open(visitor), "Why?")
    houses.play(turn)
    left, right = (turn[f"{side}_episode_id"] for side in SIDES)
    assert like(visitor, left).json() == {"episode_id": left, "liked": True}
    assert [visitor.get(f"episodes/{each}").json()["liked"] for each in (left, right)] == [True, False]
    assert like(visitor, left, False).json()["liked"] is False
    assert not Answer.objects.filter(liked=True).exists()


def test_nobody_else_may_like_it_and_nothing_before_it_is_shown(house: Houses, visitor: Visitor) -> None:
    houses = house("quick", "without-usage")
    turn = visitor.send(houses.open(visitor), "Why?")
    left = turn["left_episode_id"]
    assert like(visitor, left).status_code == 404
    houses.play(turn)
    assert like(Visitor(), left).status_code == 404
    for wrong in ("maybe", None, 7):
        assert like(visitor, left, wrong).status_code == 422
    assert not Answer.objects.filter(liked=True).exists()


def test_an_answer_that_stays_keeps_its_like(house: Houses, visitor: Visitor) -> None:
    houses = house("quick", "numbers")
    battle_id = houses.open(visitor)
    turn = visitor.send(battle_id, "Why?")
    houses.play(turn)
    like(visitor, turn["left_episode_id"])
    again = visitor.post(f"battles/{battle_id}/again", {"side": "right"}).json()
    houses.play(again)
    assert visitor.get(f"episodes/{again['left_episode_id']}").json()["liked"] is True
    assert visitor.get(f"episodes/{again['right_episode_id']}").json()["liked"] is False


def test_an_episode_of_robots_has_no_like(model: Models, visitor: Visitor) -> None:
    assert like(visitor, "ep_" + "0" * 32).status_code == 404
