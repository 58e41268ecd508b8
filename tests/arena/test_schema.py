"""The OpenAPI schema builds without a warning, and what is sent is what it says."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from django.core.management import call_command
from django.test import Client

from arena.models import VoteChoice
from tests.arena.conftest import Visitor, play_battle
from tests.fakes import FakeRuntime


@pytest.fixture
def schema(transactional_db: None) -> dict[str, Any]:
    described: dict[str, Any] = Client().get("/api/schema/", headers={"accept": "application/json"}).json()
    return described


def answer_schema(schema: dict[str, Any], path: str, method: str, status: int) -> dict[str, Any]:
    content = schema["paths"][path][method]["responses"][str(status)]["content"]
    return {
        **nullable_as_json_schema(content["application/json"]["schema"]),
        "components": nullable_as_json_schema(schema["components"]),
    }


def nullable_as_json_schema(schema: Any) -> Any:
    """OpenAPI 3.0 says `nullable` where JSON Schema lists null among the types."""
    if isinstance(schema, list):
        return [nullable_as_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: nullable_as_json_schema(each) for name, each in schema.items() if name != "nullable"}
    return {"anyOf": [inner, {"type": "null"}]} if schema.get("nullable") is True else inner


def test_the_schema_builds_without_a_warning(capsys: pytest.CaptureFixture[str], transactional_db: None) -> None:
    call_command("spectacular", "--fail-on-warn", "--validate")
    assert "/api/battles/{battle_id}/turns" in capsys.readouterr().out


def test_answers_are_what_the_schema_says(visitor: Visitor, runtime: FakeRuntime, schema: dict[str, Any]) -> None:
    battle_id = play_battle(visitor)
    calls = {
        "/api/battles/{battle_id}": f"battles/{battle_id}",
        "/api/sessions/": "sessions/?mine",
        "/api/sessions/{session_id}": f"sessions/{visitor.battle(battle_id)['session_id']}",
        "/api/turns/{turn_id}": f"turns/{visitor.battle(battle_id)['turns'][0]['turn_id']}",
        "/api/episodes/{episode_id}": f"episodes/{visitor.battle(battle_id)['turns'][0]['left']['episode_id']}",
        "/api/models": "models",
    }

    def check_all() -> None:
        for path, call in calls.items():
            jsonschema.validate(visitor.get(call).json(), answer_schema(schema, path, "get", 200))

    check_all()
    vote = visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    jsonschema.validate(vote.json(), answer_schema(schema, "/api/votes", "post", 201))
    check_all()


def test_refusals_are_what_the_schema_says(visitor: Visitor, schema: dict[str, Any]) -> None:
    refused = visitor.post(f"battles/{visitor.open()}/turns", {"instruction": ""})
    path = "/api/battles/{battle_id}/turns"
    jsonschema.validate(refused.json(), answer_schema(schema, path, "post", 422))


def test_the_schema_names_the_four_votes(schema: dict[str, Any]) -> None:
    body = schema["paths"]["/api/votes"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["vote"]["enum"] == VoteChoice.values
    assert body["required"] == ["battle_id", "vote"]
