"""What is not as it should be is refused in words, and never by a 500."""

from __future__ import annotations

import json
from typing import Any

import pytest

from arena.models import Turn, Vote
from simulation import catalogue
from tests.arena.conftest import Visitor, play_battle
from tests.fakes import FakeRuntime

NOWHERE = "0" * 32


def refusal(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@pytest.mark.parametrize("robot", ["r2d2", "", None, 7, ["widowx"], {"a": 1}, "wid\x00owx", "\ud800", "w" * 5000])
def test_an_unknown_robot_is_answered_with_the_known_ones(visitor: Visitor, robot: Any) -> None:
    refused = visitor.post("sessions/init", json.dumps({"robot_id": robot, "scene_id": "table"}))
    assert refused.status_code == 422
    if robot is not None:
        assert refused.json()["code"] == "unknown_robot"
        assert refused.json()["known"] == ["any", "franka", "ur5e", "widowx"]


def test_an_unknown_scene_is_answered_with_the_known_ones(visitor: Visitor) -> None:
    refused = visitor.post("sessions/init", {"robot_id": "widowx", "scene_id": "kitchen"})
    assert refusal(refused) == (422, "unknown_scene")
    assert refused.json()["known"] == ["any", "cabinet", "table", "workbench"]


def test_an_unknown_scene_of_no_named_robot_is_answered_with_those_of_all(visitor: Visitor) -> None:
    refused = visitor.post("sessions/init", {"scene_id": "moon"})
    assert refusal(refused) == (422, "unknown_scene")
    assert refused.json()["known"] == sorted(["any", *catalogue.OFFERED])


@pytest.mark.parametrize(
    "instruction",
    ["", "   ", "\n", None, 7, True, ["pick"], {"a": 1}, "pick\x00up", "pick\nup", "\x1b[31mpick", "\ud800",
     "\u200b", "\u202epick", "\ue000", "..!", "\uffff"],
)  # fmt: skip
def test_an_instruction_must_be_one_printable_line_of_words(visitor: Visitor, instruction: Any) -> None:
    battle_id = visitor.open()
    refused = visitor.post(f"battles/{battle_id}/turns", json.dumps({"instruction": instruction}))
    assert refused.status_code == 422
    if instruction is not None:
        assert refused.json()["code"] == "invalid_instruction"
    assert not Turn.objects.exists()


@pytest.mark.parametrize("instruction", ["a" * 201, "🤖" * 201, "put it there " * 1000])
def test_an_instruction_longer_than_the_limit_is_refused_with_the_limit(visitor: Visitor, instruction: str) -> None:
    refused = visitor.post(f"battles/{visitor.open()}/turns", {"instruction": instruction})
    assert refusal(refused) == (422, "instruction_too_long")
    assert refused.json()["longest"] == 200
    assert "at most 200 characters" in refused.json()["detail"]
    assert not Turn.objects.exists()


@pytest.mark.parametrize("instruction", ["lift the red cube " * 5, "red, " * 17, "拿" * 17])
def test_more_words_than_every_model_can_read_are_refused_and_nothing_is_started(
    visitor: Visitor, instruction: str
) -> None:
    battle_id = visitor.open()
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": instruction})
    assert refusal(refused) == (422, "instruction_too_long")
    assert (refused.json()["longest"], refused.json()["unit"]) == (16, "words")
    assert "at most 16 words" in refused.json()["detail"]
    assert not Turn.objects.exists()
    assert visitor.post(f"battles/{battle_id}/turns", {"instruction": "lift the red cube " * 4}).status_code == 202


def test_the_limit_stands_in_the_schema_in_the_list_of_tasks_and_on_the_page(visitor: Visitor) -> None:
    assert "maxLength: 200" in visitor.get("schema/").content.decode()
    tasks = visitor.get("tasks").json()
    assert (tasks["most_words"], tasks["most_characters"]) == (16, 200)
    page = visitor.client.get("/battle").content.decode()
    assert 'data-longest="200" data-most-words="16"' in page


@pytest.mark.parametrize(
    "instruction", ["a" * 200, "🤖" * 200, "Heb de rode kubus op", "拿起红色方块", "👩‍🔧 red cube", "  trimmed  "]
)
def test_any_language_is_an_instruction(visitor: Visitor, instruction: str) -> None:
    battle_id = visitor.open()
    visitor.send(battle_id, instruction)
    assert visitor.battle(battle_id)["turns"][0]["instruction"] == instruction.strip()


@pytest.mark.parametrize("start", ["again", "", None, 3])
def test_an_unknown_start_is_refused(visitor: Visitor, start: Any) -> None:
    refused = visitor.post(f"battles/{visitor.open()}/turns", {"instruction": "wave", "start": start})
    assert refusal(refused) == (422, "invalid")
    assert "start" in refused.json()["fields"]


@pytest.mark.parametrize("vote", ["left", "", None, 1, ["tie"], {"vote": "tie"}, "\ud800"])
def test_a_wrong_vote_is_answered_with_the_four(visitor: Visitor, runtime: FakeRuntime, vote: Any) -> None:
    battle_id = play_battle(visitor)
    refused = visitor.post("votes", json.dumps({"battle_id": battle_id, "vote": vote}))
    assert refused.status_code == 422
    if vote is not None:
        assert refused.json()["code"] == "invalid_vote"
        assert refused.json()["known"] == ["left_better", "right_better", "tie", "both_bad"]
    assert not Vote.objects.exists()


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"nonsense", b"[]", b"3", b'"text"', b"null", b"\xff\xfe", b'{"a": NaN}', b"[" * 60000,
     b'{"a":' * 12000, b'{"instruction": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_a_body_that_is_no_json_object_is_malformed(visitor: Visitor, body: bytes) -> None:
    battle_id = visitor.open()
    for address in ("sessions/init", f"battles/{battle_id}/turns", "votes", "battles"):
        refused = visitor.client.post(f"/api/{address}", body, content_type="application/json")
        if body == b"":
            assert refused.status_code in (201, 422)
        else:
            assert refusal(refused) == (400, "malformed")


def test_a_huge_body_is_refused_unread(visitor: Visitor) -> None:
    refused = visitor.post("sessions/init", {"robot_id": "w" * 100_000})
    assert refusal(refused) == (413, "too_large")


@pytest.mark.parametrize("unknown", [NOWHERE, "x", "%00", "%ed%a0%80", "a" * 3000, "..%2f..", "battle_1' or 1=1"])
def test_an_id_that_is_nowhere_is_not_found(visitor: Visitor, unknown: str) -> None:
    for kind, prefix in (("battles", "battle_"), ("sessions", "sess_"), ("turns", "turn_"), ("episodes", "ep_")):
        assert visitor.get(f"{kind}/{prefix}{unknown}").status_code == 404
    for form in ("view.bin", "states.bin", "replay.bin"):
        assert visitor.get(f"episodes/ep_{unknown}/{form}").status_code == 404
    assert visitor.post(f"battles/battle_{unknown}/turns", {"instruction": "wave"}).status_code == 404
    assert visitor.post(f"sessions/sess_{unknown}/battles").status_code == 404


@pytest.mark.parametrize("battle_id", [f"battle_{NOWHERE}", "x", 5, "\x00", "\ud800", ["battle"]])
def test_a_vote_for_a_battle_that_is_nowhere_is_not_found(visitor: Visitor, battle_id: Any) -> None:
    visitor.open()
    refused = visitor.post("votes", json.dumps({"battle_id": battle_id, "vote": "tie"}))
    assert refusal(refused) == (404, "not_found")


def test_missing_fields_are_named(visitor: Visitor) -> None:
    assert "battle_id" in visitor.post("votes", {"vote": "tie"}).json()["fields"]
    assert "session_id" in visitor.post("battles", {}).json()["fields"]


@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_an_address_that_the_api_does_not_have_is_not_found_in_json(visitor: Visitor, method: str) -> None:
    refused = getattr(visitor.client, method)("/api/nonsense/of/mine")
    assert refusal(refused) == (404, "not_found")


@pytest.mark.parametrize("unknown", ["%00", "%ed%a0%80", "x", NOWHERE])
def test_the_page_of_a_battle_that_is_nowhere_is_not_found(visitor: Visitor, unknown: str) -> None:
    assert visitor.client.get(f"/battle/battle_{unknown}").status_code == 404


def test_a_method_that_a_call_does_not_know_is_refused(visitor: Visitor) -> None:
    refused = visitor.client.delete("/api/votes")
    assert refusal(refused) == (405, "method_not_allowed")


def test_a_closing_slash_makes_no_difference(visitor: Visitor, runtime: FakeRuntime) -> None:
    assert visitor.post("sessions/init/", {}).status_code == 201
    battle_id = play_battle(visitor)
    assert visitor.get(f"battles/{battle_id}/").json() == visitor.battle(battle_id)
    assert visitor.get("sessions").json() == visitor.get("sessions/").json()
    assert visitor.post("votes/", {"battle_id": battle_id, "vote": "tie"}).status_code == 201


def test_nothing_that_an_answer_says_may_be_kept_by_others(visitor: Visitor) -> None:
    battle_id = visitor.open()
    assert visitor.get(f"battles/{battle_id}")["Cache-Control"] == "no-store"
    assert visitor.get("battles/nowhere")["Cache-Control"] == "no-store"


def test_a_format_that_is_asked_for_in_the_address_makes_no_difference(visitor: Visitor) -> None:
    assert visitor.get("sessions/?mine&format=xml").json() == visitor.get("sessions/?mine").json()
