"""Each side goes on with its own conversation, and with no more of it than every contestant can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.texts.servers import QUICK, ScriptedServer

Houses = Callable[[str, str], House]


def told(server: ScriptedServer, script: str) -> list[list[str]]:
    """What the model was told, request by request."""
    asked = [request for request in server.requests if request["model"] == script]
    return [[f"{message['role']}: {message['content'].strip()}" for message in each["messages"]] for each in asked]


def test_a_follow_up_has_the_own_answer_and_not_the_other_sides(
    house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("quick", "without-usage")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    houses.play(visitor.send(battle_id, "And then?"))
    assert told(server, "quick")[1] == ["user: Why?", f"assistant: {QUICK}", "user: And then?"]
    assert told(server, "without-usage")[1] == ["user: Why?", "assistant: one two three", "user: And then?"]


def test_a_failed_turn_is_no_part_of_it_and_a_reset_begins_anew(
    house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "One"))
    server.down = True
    houses.play(visitor.send(battle_id, "Two"))
    server.down = False
    houses.play(visitor.send(battle_id, "Three"))
    assert [line for line in told(server, "quick")[-1] if line.startswith("user")] == ["user: One", "user: Three"]
    again = visitor.post(f"battles/{battle_id}/turns", {"instruction": "Four", "start": "reset"})
    houses.play(again.json())
    assert told(server, "quick")[-1] == ["user: Four"]
    houses.play(visitor.send(battle_id, "Five"))
    assert told(server, "quick")[-1] == ["user: Four", f"assistant: {QUICK}", "user: Five"]


def test_the_oldest_exchanges_are_left_out_where_a_conversation_grows_too_long(
    house: Houses, visitor: Visitor, server: ScriptedServer, settings: Any
) -> None:
    settings.TEXT = {**settings.TEXT, "conversation_characters": 100}
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    for prompt in ("One", "Two", "Three"):
        houses.play(visitor.send(battle_id, prompt))
    assert told(server, "quick")[-1] == ["user: Two", f"assistant: {QUICK}", "user: Three"]


def test_a_battle_has_so_many_turns_and_then_asks_for_the_vote(house: Houses, visitor: Visitor, settings: Any) -> None:
    settings.TEXT = {**settings.TEXT, "turns": 2}
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    for prompt in ("One", "Two"):
        assert visitor.battle(battle_id)["can_send"]
        houses.play(visitor.send(battle_id, prompt))
    assert not visitor.battle(battle_id)["can_send"]
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "Three"})
    assert (refused.status_code, refused.json()["code"]) == (409, "turns_played")
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201


@pytest.mark.parametrize(
    "prompt",
    [
        "a\n" * 900,
        "a" + "\n" * 50_000 + "b",
        "\x1b[31m red",
        "\x7fELF",
        "",
        " \n ",
        "a" * 2001,
        "a\x00b",
        "a\u202eb",
        "\n".join("ab" for _ in range(101)),
        "?!",
        7,
        "\ud800",
    ],
)
def test_what_is_no_prompt_is_refused_and_begins_nothing(
    house: Houses, visitor: Visitor, server: ScriptedServer, prompt: object
) -> None:
    battle_id = house("quick", "slow").open(visitor)
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": prompt})
    assert refused.status_code in (400, 413, 422), refused.content
    assert visitor.battle(battle_id)["turns"] == []
    assert not server.requests


@pytest.mark.parametrize("body", [b"\x7fELF\x02\x01\x00\xff", b'{"instruction": "\xff\xfe"}', b"x" * 70_000, b"[]"])
def test_a_body_that_is_no_json_object_is_refused_and_begins_nothing(
    house: Houses, visitor: Visitor, server: ScriptedServer, body: bytes
) -> None:
    battle_id = house("quick", "slow").open(visitor)
    refused = visitor.client.post(f"/api/battles/{battle_id}/turns", body, content_type="application/json")
    assert refused.status_code in (400, 413), refused.content
    assert visitor.battle(battle_id)["turns"] == []
    assert not server.requests


def test_a_prompt_may_have_lines_and_is_read_as_it_was_written(
    house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "def f(x):\r\n\treturn x\n"))
    assert told(server, "quick") == [["user: def f(x):\n\treturn x"]]


def test_after_the_vote_counts_and_speed_are_told_and_not_before(house: Houses, visitor: Visitor) -> None:
    houses = house("quick", "without-usage")
    battle_id = houses.open(visitor)
    turn = visitor.send(battle_id, "Why?")
    houses.play(turn)
    before = visitor.get(f"episodes/{turn['left_episode_id']}").json()
    assert (before["text"].strip(), before["outcome"]) == (QUICK, None)
    assert "tokens" not in visitor.get(f"battles/{battle_id}").content.decode()
    visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"})
    left, right = (visitor.battle(battle_id)["turns"][0][side]["outcome"] for side in ("left", "right"))
    assert (left["prompt_tokens"], left["answer_tokens"], left["finish_reason"]) == (7, 11, "stop")
    assert (right["prompt_tokens"], right["answer_tokens"]) == (None, 3)
    assert left["first_token_ms"] > 0
