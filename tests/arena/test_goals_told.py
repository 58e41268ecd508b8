"""What a turn is scored as, and how long it may take: told alike for both sides, before and after the vote."""

from __future__ import annotations

from typing import Any

import pytest

from arena.models import Attempt
from tests.arena.conftest import Visitor, cast, play, side_of
from tests.fakes import FakeRuntime

SENTENCES = {
    "Could you put the RED block on the left-hand plate?": ("place", "put the red cube on the left plate"),
    "push the blue can away from you": ("push", "push the blue cylinder forward"),
    "swap the red cube with the green orb": ("swap", "swap the red cube and the green sphere"),
    "do a little dance": None,
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_a_turn_tells_what_it_is_scored_as_before_and_after_the_vote(
    visitor: Visitor, runtime: FakeRuntime, sentence: str
) -> None:
    known = SENTENCES[sentence]
    wanted = {"task_id": known[0], "text": known[1]} if known else None
    battle_id = visitor.open()
    sent = visitor.send(battle_id, sentence)
    assert [turn["goal"] for turn in visitor.battle(battle_id)["turns"]] == [wanted], "before anything was played"
    play(sent)
    before = visitor.battle(battle_id)["turns"][0]
    cast(visitor, battle_id)
    after = visitor.battle(battle_id)["turns"][0]
    assert before["goal"] == after["goal"] == wanted
    assert before["max_steps"] == after["max_steps"]
    assert Visitor().get(f"shared/{battle_id}").json()["turns"][0]["goal"] == wanted


@pytest.mark.parametrize(
    ("sentence", "steps"), [("swap the two plates", 50), ("swap the red cube and the green ball", 150)]
)
def test_both_sides_may_take_as_many_steps_as_the_instruction_needs(
    visitor: Visitor, runtime: FakeRuntime, sentence: str, steps: int
) -> None:
    battle_id = visitor.open()
    play(visitor.send(battle_id, sentence))
    assert visitor.battle(battle_id)["turns"][0]["max_steps"] == steps
    assert [side_of(battle_id, side).length for side in ("left", "right")] == [steps, steps]


def test_the_operators_limit_is_the_upper_one(visitor: Visitor, runtime: FakeRuntime, settings: Any) -> None:
    settings.ROLLOUT_MAX_STEPS = 60
    battle_id = visitor.open()
    play(visitor.send(battle_id, "swap the red cube and the green ball"))
    assert visitor.battle(battle_id)["turns"][0]["max_steps"] == 60
    assert set(Attempt.objects.values_list("length", flat=True)) == {60}
