"""The HTTP API of forks, which are turns after the vote."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from arena import kinds
from arena.api.schema import BODY_REFUSED, answer, body, refusals
from arena.api.serializers import AnyJsonField, public_id
from arena.api.turns import answer_turns
from arena.api.views import ArenaView
from arena.shapes import SentTurn
from arena.visitors.permissions import own_battle
from arena.visitors.throttles import Limited, caller_of
from policies.models import ROBOTS
from robots.forks import Fork, add_fork

NULLABLE: dict[str, Any] = {"nullable": True, "default": None}


class ForkSerializer(serializers.Serializer[Any]):
    instruction = AnyJsonField(default=None, allow_null=True)
    turn_id = AnyJsonField(default=None, allow_null=True)
    record = serializers.IntegerField(default=0, min_value=0, max_value=1_000_000)
    seed = serializers.IntegerField(default=None, allow_null=True, min_value=0, max_value=2**31 - 1)

    def validate_instruction(self, value: Any) -> str | None:
        return None if value is None else kinds.get(ROBOTS).clean_instruction(value)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        turn_id = attrs["turn_id"]
        return {**attrs, "turn_id": None if turn_id is None else public_id(turn_id)}


class Forks(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "turns"

    @extend_schema(
        operation_id="explore",
        summary="Fork a voted battle",
        description="Let both policies of an own, voted battle play once more: from a record of a turn (`turn_id`, "
        "`record`), or from the first state of another seed. Marked as an `exploration` and counted nowhere. Answers "
        "like `POST battles/{battle_id}/turns`.",
        parameters=[OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="wait=SECONDS, at most 60")],
        request=body(
            instruction={"type": "string", "maxLength": settings.INSTRUCTION_MAX_LENGTH, **NULLABLE},
            turn_id={"type": "string", **NULLABLE},
            record={"type": "integer", "minimum": 0, "default": 0},
            seed={"type": "integer", "minimum": 0, "maximum": 2**31 - 1, **NULLABLE},
        ),
        responses={200: answer(SentTurn), 202: answer(SentTurn), **refusals(*BODY_REFUSED, 404, 409, 422, 429, 503)},
    )
    def post(self, request: Request, battle_id: str) -> Response:
        battle = own_battle(request, battle_id)
        kinds.check(battle.session, ROBOTS)
        wanted = ForkSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        fork = Fork(**wanted.validated_data)
        return answer_turns(request, [add_fork(battle, fork, caller_of(request._request))])
