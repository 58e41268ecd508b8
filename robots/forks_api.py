"""The HTTP API of what comes after a vote: showing the battle to others, and playing on."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from arena import actions, selectors
from arena.api.schema import UNFIT, answer, body, refusals
from arena.api.serializers import ExplorationSerializer, is_public_id
from arena.api.views import ArenaView, answer_turns
from arena.errors import NotFound
from arena.shapes import SentTurn, SharedBattle
from arena.visitors.permissions import own_battle
from arena.visitors.throttles import TurnsLimited, caller_of

NULLABLE: dict[str, Any] = {"nullable": True, "default": None}


class SharedBattleDetail(ArenaView):
    @extend_schema(
        operation_id="get_shared_battle",
        description="A voted battle, for anybody who has its address; 404 for one that has no vote.",
        responses={200: answer(SharedBattle), **refusals(404)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = selectors.shared_battle(battle_id)
        if battle is None:
            raise NotFound
        return Response(battle)


class Explorations(ArenaView):
    throttle_classes = [TurnsLimited]

    @extend_schema(
        operation_id="explore",
        description="Let both policies of an own, voted battle play once more: from a record of a turn (`turn_id`, "
        "`record`), or from the first state of another seed. Marked as an exploration and counted nowhere. Answers "
        "like `POST battles/{battle_id}/turns`.",
        parameters=[OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="wait=SECONDS, at most 60")],
        request=body(
            instruction={"type": "string", "maxLength": settings.INSTRUCTION_MAX_LENGTH, **NULLABLE},
            turn_id={"type": "string", **NULLABLE},
            record={"type": "integer", "minimum": 0, "default": 0},
            seed={"type": "integer", "minimum": 0, "maximum": 2**31 - 1, **NULLABLE},
        ),
        responses={200: answer(SentTurn), 202: answer(SentTurn), **refusals(*UNFIT, 404, 409, 422, 429, 503)},
    )
    def post(self, request: Request, battle_id: str) -> Response:
        battle = own_battle(request, battle_id)
        wanted = ExplorationSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        wish = actions.Wish(**wanted.validated_data)
        if wish.turn_id is not None and not is_public_id(wish.turn_id):
            raise NotFound
        return answer_turns(request, [actions.explore(battle, wish, caller_of(request._request))])
