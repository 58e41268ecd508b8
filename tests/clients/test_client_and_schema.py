"""The Python client reads what the API describes: calls, bodies and every field of its types."""

from __future__ import annotations

import typing
from functools import cache
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from vla_arena import errors, types

CALLS: dict[str, tuple[str, str, str, Any]] = {
    "open_battle": ("post", "/api/sessions/init", "201", types.OpenedBattle),
    "next_battle": ("post", "/api/sessions/{session_id}/battles", "201", types.OpenedBattle),
    "snapshot": ("get", "/api/battles/{battle_id}", "200", types.BattleSnapshot),
    "send": ("post", "/api/battles/{battle_id}/turns", "202", types.SentTurn),
    "wait_for": ("get", "/api/turns/{turn_id}", "200", types.Turn),
    "vote": ("post", "/api/votes", "201", types.VoteCast),
    "ask_for_study": ("post", "/api/studies", "201", types.Study),
    "study": ("get", "/api/studies/{study_id}", "200", types.Study),
    "cancel_study": ("post", "/api/studies/{study_id}/cancel", "200", types.Study),
    "resume_study": ("post", "/api/studies/{study_id}/resume", "200", types.Study),
}
PLAIN = ("/api/studies", "/api/sessions/", "/api/models", "/api/leaderboard", "/api/episodes/{episode_id}")


@cache
def schema() -> dict[str, Any]:
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


def answered(method: str, path: str, status: str) -> dict[str, Any]:
    answer: dict[str, Any] = schema()["paths"][path][method]["responses"][status]["content"]["application/json"][
        "schema"
    ]
    return answer


def check(declared: Any, described: dict[str, Any]) -> None:
    """Every field of the type is described, and what the type requires is always there."""
    for name, kind in typing.get_type_hints(declared).items():
        assert name in described["properties"], f"{declared.__name__}.{name}"
        required = name in declared.__required_keys__
        assert not required or name in described["required"], f"{declared.__name__}.{name} may be missing"
        inner = described["properties"][name]
        if typing.is_typeddict(kind):
            check(kind, inner)
        elif typing.get_origin(kind) is list and typing.is_typeddict(typing.get_args(kind)[0]):
            check(typing.get_args(kind)[0], inner["items"])
        elif typing.get_origin(kind) is typing.Literal and "enum" in inner:
            assert set(typing.get_args(kind)) == set(inner["enum"]), f"{declared.__name__}.{name}"


@pytest.mark.parametrize("call", CALLS)
def test_what_a_call_answers_is_described_as_the_client_reads_it(call: str) -> None:
    method, path, status, declared = CALLS[call]
    check(declared, answered(method, path, status))


@pytest.mark.parametrize("path", PLAIN)
def test_what_the_client_reads_as_it_is_exists(path: str) -> None:
    assert "get" in schema()["paths"][path]


def test_what_the_client_sends_is_what_the_api_takes() -> None:
    for path, names, choices in [
        ("/api/battles/{battle_id}/turns", {"instruction", "start"}, {"start": types.Start}),
        ("/api/votes", {"battle_id", "vote", "reasons"}, {"vote": types.Choice}),
        ("/api/studies", {"a", "b", "tasks", "seeds"}, {}),
    ]:
        body = schema()["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
        assert names <= set(body)
        for name, choice in choices.items():
            assert set(typing.get_args(choice)) == set(body[name]["enum"])


def test_every_refusal_that_is_described_has_a_kind_of_its_own() -> None:
    statuses = {
        int(status)
        for operations in schema()["paths"].values()
        for operation in operations.values()
        for status in operation["responses"]
        if status.startswith(("4", "5"))
    }
    assert statuses <= {*errors.OF_STATUS, 428, 406, 405, 502, 500}, "428 is answered by the client itself"
