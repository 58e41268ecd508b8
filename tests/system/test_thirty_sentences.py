"""A visitor types thirty natural sentences of all kinds: no turn fails, and none gets a verdict that it cannot have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import pytest

from tests.browser.seeded import seed_battles
from tests.sentences import SENTENCES
from tests.stack import Arena
from tests.visitor import Json, Visitor

pytestmark = [pytest.mark.stack, pytest.mark.slow]

SIDES = ("left", "right")
PAIRS = [
    ("openvla-mini", "octo-mini"),
    ("octo-mini", "film-base"),
    ("film-small", "openvla-mini"),
    ("film-mute", "film-early"),
    ("octo-mini", "film-tenth"),
    ("film-tenth", "openvla-mini"),
]
"""Every shipped model, the two that split words into tokens most often."""


@pytest.fixture
def arena(arena_stack: Arena) -> Iterator[Arena]:
    yield arena_stack
    seed_battles(arena_stack)


def play(visitor: Visitor, battle_id: str, sentences: Sequence[str]) -> Json:
    """Say all of them, vote, and answer the battle as it is told then."""
    for sentence in sentences:
        turn = visitor.wait_for_turn(visitor.send_turn(battle_id, sentence, start="reset"), 240)
        assert turn["status"] == "completed", (sentence, turn)
        assert [turn[side].get("outcome") for side in SIDES] == [None, None]
    status, told = visitor.post("/api/votes", {"battle_id": battle_id, "vote": "tie"})
    assert status in (200, 201), told
    return visitor.get(f"/api/battles/{battle_id}")[1]


def check_verdict(instruction: str, outcome: Json) -> None:
    judged = SENTENCES[instruction] is not None
    assert (type(outcome["success"]) is bool) == judged, (instruction, outcome)
    assert (outcome["progress"] is not None) == judged, (instruction, outcome)
    assert (outcome["termination_reason"] == "success") == (outcome["success"] is True)


def test_thirty_natural_sentences_meet_no_failed_turn_and_no_false_verdict(arena: Arena) -> None:
    visitor, said, played = Visitor(arena.url), iter(SENTENCES), set()
    for pair in PAIRS:
        seed_battles(arena, pair)
        sentences = list(islice(said, len(SENTENCES) // len(PAIRS)))
        battle = play(visitor, visitor.open_battle(), sentences)
        played |= {battle[f"{side}_model"]["model_id"] for side in SIDES}
        assert [turn["instruction"] for turn in battle["turns"]] == sentences
        for turn in battle["turns"]:
            for side in SIDES:
                check_verdict(turn["instruction"], turn[side]["outcome"])
    assert list(said) == []
    assert played == {model for pair in PAIRS for model in pair}


def test_who_says_too_much_reads_the_limit_and_may_go_on(arena: Arena) -> None:
    visitor = Visitor(arena.url)
    battle_id = visitor.open_battle()
    long = {"instruction": "lift the red cube, please, " * 5}
    status, told = visitor.post(f"/api/battles/{battle_id}/turns", long)
    assert (status, told["code"], told["longest"], told["unit"]) == (422, "instruction_too_long", 16, "words")
    assert visitor.get(f"/api/battles/{battle_id}")[1]["turns"] == []
    assert visitor.wait_for_turn(visitor.send_turn(battle_id, "lift the red cube"))["status"] == "completed"
