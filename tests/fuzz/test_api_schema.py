"""Every call of the API, with data as described and otherwise: no 5xx, and every answer as the schema describes it."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from drf_spectacular.generators import SchemaGenerator
from schemathesis import Case
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi import checks

from arena.models import Battle, Turn, Vote
from arena.queue import dispatch
from robots import play
from tests.fakes import FakeRuntime
from tests.fuzz.effort import EFFORT, SEED, tried
from tests.fuzz.world import TOKEN, World
from vlaarena.roles import MODERATOR, OPERATOR
from vlaarena.wsgi import application

TRIES = 8
PLAIN = {"Accept-Encoding": "identity"}  # calls within the process are not unpacked
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
    checks.negative_data_rejection,
]
MAY_BE_DOWN = {"GET /api/health", "GET /api/health/ready", "POST /api/arena/battle"}
"""Calls whose described answer is a 503 where no worker runs, or no language model is there to draw."""
EMPTY_IS_NONE = {"GET /api/leaderboard", "GET /api/wormarena/games/recent"}
"""Calls that take an empty parameter, which the description does not list, for none at all."""


def _described() -> Any:
    config: dict[str, Any] = {
        "generation": {
            "mode": "all",
            "max-examples": TRIES * EFFORT,
            "deterministic": SEED is None,
            "database": "none",
            "with-security-parameters": False,
        },
        # Every boundary of every field, hundreds of calls: for the longer runs.
        "phases": {"coverage": {"enabled": EFFORT > 1}, "examples": {"enabled": EFFORT > 1}},
        "suppress-health-check": ["all"],
        **({} if SEED is None else {"seed": SEED}),
    }
    raw = SchemaGenerator().get_schema(request=None, public=True)
    schema = schemathesis.openapi.from_dict(raw, config=SchemathesisConfig.from_dict(config))
    schema.app = application
    return schema


SCHEMA = _described()


@pytest.fixture
def world(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    """Turns are played where they are sent, in a runtime without physics."""
    runtime = FakeRuntime()
    monkeypatch.setattr(play, "runtime", lambda: runtime)
    monkeypatch.setattr(dispatch, "send_to_workers", lambda rollouts: [play.play(name) for name in rollouts])
    return World()


@pytest.mark.parametrize("role", ["visitor"])  # with a parameter of ours each call of the API has an id of its own
@SCHEMA.parametrize()
def test_what_a_visitor_calls_is_answered_as_described(case: Case, world: World, role: str) -> None:
    answered_as_described(case, world, world.cookies)


@pytest.mark.parametrize("role", [MODERATOR, OPERATOR])
@SCHEMA.parametrize()
def test_what_the_staff_calls_is_answered_as_described_and_changes_no_battle(
    case: Case, world: World, role: str
) -> None:
    """They have no visitor's cookie: what they may see of others is not theirs to act on."""
    before = played(world)
    answered_as_described(case, world, world.staff_cookies[role], {"X-CSRFToken": TOKEN})
    assert played(world) == before


def played(world: World) -> list[list[tuple[Any, ...]]]:
    """The world's battles with how they stand, their turns, and their votes."""
    battles = Battle.objects.filter(battle_id__in=world.known["battle_id"]).order_by("pk")
    turns, votes = (model.objects.filter(battle__in=battles).order_by("pk") for model in (Turn, Vote))
    return [
        list(battles.values_list("pk", "status")),
        list(turns.values_list("pk", "settled_at")),
        list(votes.values_list("pk", "vote")),
    ]


def answered_as_described(
    case: Case, world: World, cookies: dict[str, str], headers: dict[str, str] | None = None
) -> None:
    tried["calls of the API"] += 1
    world.place(case)
    label = case.operation.label
    applied = [check for check in CHECKS if check is not checks.negative_data_rejection or label not in EMPTY_IS_NONE]
    if label not in MAY_BE_DOWN:
        applied = [not_a_server_error, *applied]
    case.call_and_validate(checks=applied, cookies=cookies, headers={**PLAIN, **(headers or {})})
