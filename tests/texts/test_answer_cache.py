"""With the cache on, an equal prompt at temperature 0 is answered without its server; nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.texts.servers import ScriptedServer
from texts.models import Answer, LanguageModel

Houses = Callable[[str, str], House]


@pytest.fixture(autouse=True)
def _on(settings: Any) -> None:
    settings.TEXT = {**settings.TEXT, "cache_hours": 1.0}


@pytest.fixture
def two(house: Houses) -> House:
    """`numbers` never answers alike; it is decoded greedily, `quick` is not."""
    houses = house("numbers", "quick")
    LanguageModel.objects.filter(pk="the-numbers").update(temperature=0.0)
    LanguageModel.objects.filter(pk="the-quick").update(temperature=0.7)
    return houses


def ask(houses: House, visitor: Visitor, *prompts: str) -> tuple[str, str]:
    """A new battle; answers it and the left text of its last turn."""
    battle_id = houses.open(visitor)
    for prompt in prompts:
        turn = visitor.send(battle_id, prompt)
        houses.play(turn)
    return battle_id, visitor.get(f"episodes/{turn['left_episode_id']}").json()["text"].strip()


def asked(server: ScriptedServer) -> list[str]:
    return [request["model"] for request in server.requests]


def test_an_equal_prompt_is_answered_from_the_cache_where_the_temperature_is_zero(
    two: House, visitor: Visitor, server: ScriptedServer
) -> None:
    assert ask(two, visitor, "Why?")[1] == "Answer 1"
    battle_id, text = ask(two, visitor, "Why?")
    assert text == "Answer 1"
    assert (asked(server).count("numbers"), asked(server).count("quick")) == (1, 2)
    assert list(Answer.objects.filter(cached=True).values_list("attempt__model_id", "cost")) == [("the-numbers", 0.0)]
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    outcomes = visitor.battle(battle_id)["turns"][0]
    assert (outcomes["left"]["outcome"]["cached"], outcomes["right"]["outcome"]["cached"]) == (True, False)


@pytest.mark.parametrize(
    "change",
    [
        {"system_prompt": "Be brief."},
        {"top_p": 0.5},
        {"max_tokens": 7},
        {"extra_body": {"seed": 1}},
        {"temperature": 0.1},
    ],
)
def test_a_model_that_would_be_asked_otherwise_is_asked(
    two: House, visitor: Visitor, server: ScriptedServer, change: dict[str, Any]
) -> None:
    ask(two, visitor, "Why?")
    LanguageModel.objects.filter(pk="the-numbers").update(**change)
    assert ask(two, visitor, "Why?")[1] == "Answer 2"


def test_another_conversation_and_asking_again_ask_the_server(
    two: House, visitor: Visitor, server: ScriptedServer
) -> None:
    battle_id, _ = ask(two, visitor, "Why?")
    assert ask(two, visitor, "Who?", "Why?")[1] == "Answer 3"
    again = visitor.post(f"battles/{battle_id}/again", {}).json()
    two.play(again)
    assert visitor.get(f"episodes/{again['left_episode_id']}").json()["text"].strip() == "Answer 4"


def test_it_is_off_unless_it_is_asked_for(two: House, visitor: Visitor, server: ScriptedServer, settings: Any) -> None:
    settings.TEXT = {**settings.TEXT, "cache_hours": 0.0}
    assert [ask(two, visitor, "Why?")[1] for _ in range(2)] == ["Answer 1", "Answer 2"]


def test_a_failed_answer_is_not_kept(house: Houses, visitor: Visitor, server: ScriptedServer) -> None:
    houses = house("fails-inside", "quick")
    LanguageModel.objects.update(temperature=0.0)
    for _ in range(2):
        houses.play(visitor.send(houses.open(visitor), "Why?"))
    assert asked(server).count("fails-inside") == 2
