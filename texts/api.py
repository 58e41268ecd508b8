"""The HTTP API that only battles of language models have."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from arena import kinds
from arena.api.schema import BODY_REFUSED, answer, body, refusals
from arena.api.turns import answer_turns, spend_kind
from arena.api.views import ArenaView
from arena.models import Side
from arena.shapes import SentTurn
from arena.visitors.permissions import own_battle
from arena.visitors.throttles import Limited, caller_of
from texts.again import answer_again
from texts.models import TEXT


class AgainSerializer(serializers.Serializer[Any]):
    side = serializers.ChoiceField(Side.choices, default=None, allow_null=True)


class AnswerAgain(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "turns"

    @extend_schema(
        operation_id="answer_again",
        summary="Have the last turn answered again",
        description="Have the last turn of an own battle of language models answered again, before its vote: by both, "
        "or with `side` by one, while the other's answer stays. The new turn replaces the last one in both "
        "conversations. Answers like `POST battles/{battle_id}/turns`.",
        parameters=[OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="wait=SECONDS, at most 60")],
        request=body(side={"type": "string", "enum": Side.values, "nullable": True, "default": None}),
        responses={200: answer(SentTurn), 202: answer(SentTurn), **refusals(*BODY_REFUSED, 404, 409, 422, 429, 503)},
    )
    def post(self, request: Request, battle_id: str) -> Response:
        battle = own_battle(request, battle_id)
        kinds.check(battle.session, TEXT)
        wanted = AgainSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        spend_kind(kinds.of(battle.session), request)
        side = wanted.validated_data["side"]
        return answer_turns(request, [answer_again(battle, Side(side) if side else None, caller_of(request._request))])
