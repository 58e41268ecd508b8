"""The HTTP API that only battles of language models have."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from arena import kinds
from arena.api.schema import BODY_REFUSED, answer, body, refusals
from arena.api.turns import answer_turns, spend_kind
from arena.api.views import ArenaView
from arena.errors import NotFound
from arena.models import Side
from arena.recordings import find_recorded
from arena.shapes import SentTurn
from arena.visitors.permissions import check_may_act, own_battle
from arena.visitors.throttles import Limited, caller_of
from texts.again import answer_again
from texts.models import TEXT, Answer


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


class Like(TypedDict):
    episode_id: str
    liked: bool


class LikeSerializer(serializers.Serializer[Any]):
    liked = serializers.BooleanField()


class LikeAnswer(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "feedback"

    @extend_schema(
        operation_id="like_answer",
        summary="Like an answer, or take it back",
        description="Like an answer of an own battle of language models, once both sides have ended its turn; with "
        "`liked: false` take it back. It counts in no ranking.",
        request=body(liked={"type": "boolean"}),
        responses={200: answer(Like), **refusals(*BODY_REFUSED, 404, 422, 429)},
    )
    def put(self, request: Request, episode_id: str) -> Response:
        found = find_recorded(episode_id)
        check_may_act(request, found.attempt.turn.battle.session if found else None)
        wanted = LikeSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        if found is None or not found.may_be_shown:
            raise NotFound
        kinds.check(found.attempt.turn.battle.session, TEXT)
        liked = wanted.validated_data["liked"]
        Answer.objects.filter(attempt_id=episode_id).update(liked=liked)
        return Response({"episode_id": episode_id, "liked": liked})
