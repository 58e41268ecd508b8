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
from arena.errors import NotVoted
from arena.rules import revealed
from arena.shapes import SentTurn
from arena.visitors.permissions import own_battle
from arena.visitors.throttles import Limited, caller_of
from policies.models import ROBOTS
from robots.fork_tree import ForkTree, tree_of
from robots.forks import Fork, add_fork

FARTHEST = 7.0
"""Of any number of a move: more than a whole turn [rad]."""
REACH = (0.1, 0.5, 0.3)
"""The least and the largest x and the largest y of a thing that is moved [m, robot's base frame]: on every table."""
NULLABLE: dict[str, Any] = {"nullable": True, "default": None}


class ForkSerializer(serializers.Serializer[Any]):
    instruction = AnyJsonField(default=None, allow_null=True)
    turn_id = AnyJsonField(default=None, allow_null=True)
    record = serializers.IntegerField(default=0, min_value=0, max_value=1_000_000)
    seed = serializers.IntegerField(default=None, allow_null=True, min_value=0, max_value=2**31 - 1)

    left_model_id = AnyJsonField(default=None, allow_null=True)
    right_model_id = AnyJsonField(default=None, allow_null=True)
    moved = serializers.DictField(
        child=serializers.ListField(
            child=serializers.FloatField(min_value=-FARTHEST, max_value=FARTHEST), min_length=2, max_length=3
        ),
        default=dict,
    )

    def validate_left_model_id(self, value: Any) -> str | None:
        if value is not None and not isinstance(value, str):
            raise serializers.ValidationError("expected the id of a model, or null")
        return value

    validate_right_model_id = validate_left_model_id

    def validate_moved(self, value: dict[str, list[float]]) -> dict[str, list[float]]:
        """Bounds are those of the table: x and y [m] about the robot's base; a turn may be of any size."""
        for x, y, *_ in value.values():
            if not (REACH[0] <= x <= REACH[1] and abs(y) <= REACH[2]):
                raise serializers.ValidationError(
                    f"expected x from {REACH[0]} to {REACH[1]} and y from -{REACH[2]} to {REACH[2]} (m)"
                )
        return value

    def validate_instruction(self, value: Any) -> str | None:
        return None if value is None else kinds.get(ROBOTS).clean_instruction(value)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        turn_id = attrs["turn_id"]
        return {**attrs, "turn_id": None if turn_id is None else public_id(turn_id)}


class Forks(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "turns"

    def get_throttles(self) -> list[Any]:
        """A look at the tree is no turn."""
        return super().get_throttles() if self.request.method == "POST" else []

    @extend_schema(
        operation_id="get_explorations",
        summary="The tree of forks of a battle",
        description="The turns of an own, voted battle in the order of a tree: each turn that the vote judged, then "
        "the forks that start in it, and theirs; last those from the first state of another seed. `parent` and "
        "`depth` say where a turn is.",
        responses={200: answer(ForkTree), **refusals(404, 409, 422)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = own_battle(request, battle_id)
        kinds.check(battle.session, ROBOTS)
        if not revealed(battle):
            raise NotVoted
        return Response(tree_of(battle))

    @extend_schema(
        operation_id="explore",
        summary="Fork a voted battle",
        description="Let both policies of an own, voted battle play once more: from a record of a turn (`turn_id`, "
        "`record`), or from the first state of another seed. `left_model_id` and `right_model_id` name other policies "
        "to play. `moved` puts objects elsewhere before both begin: name -> [x, y] or [x, y, turn about the vertical], "
        "in m of the robot's base frame and rad. Marked as an `exploration` and counted nowhere. Answers like `POST "
        "battles/{battle_id}/turns`.",
        parameters=[OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="wait=SECONDS, at most 60")],
        request=body(
            instruction={"type": "string", "maxLength": settings.INSTRUCTION_MAX_LENGTH, **NULLABLE},
            turn_id={"type": "string", **NULLABLE},
            record={"type": "integer", "minimum": 0, "default": 0},
            seed={"type": "integer", "minimum": 0, "maximum": 2**31 - 1, **NULLABLE},
            left_model_id={"type": "string", **NULLABLE},
            right_model_id={"type": "string", **NULLABLE},
            moved={
                "type": "object",
                "default": {},
                "additionalProperties": {
                    "type": "array",
                    "items": {"type": "number", "minimum": -FARTHEST, "maximum": FARTHEST},
                    "minItems": 2,
                    "maxItems": 3,
                },
            },
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
