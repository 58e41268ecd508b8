"""The HTTP API that only voice battles have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import FileResponse
from django.http.request import split_domain_port
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from arena import kinds
from arena.api.schema import BODY_REFUSED, answer, body, refusals
from arena.api.views import ArenaView
from arena.errors import EpisodeExpired, NotFound, NotVoted
from arena.models import Battle, row_or_none
from arena.recordings import find_shown
from arena.rules import revealed
from arena.visitors.permissions import check_may_look, check_public, own_battle
from arena.visitors.throttles import Limited
from voice import offered
from voice.battles import results, slots, sockets
from voice.battles.errors import VoiceOff
from voice.models import VOICE, Call, Conversation


class SlotJson(TypedDict):
    """`status`: open, talking, ended or failed. `tries_left`: how often it may still be called."""

    label: str
    status: str
    tries_left: int


class SlotsJson(TypedDict):
    battle_id: str
    calls: list[SlotJson]


class OpenedCall(SlotJson):
    """`socket`: the address at which the call is held, within an hour; each opening has another one."""

    socket: str


class CallSerializer(serializers.Serializer[Any]):
    label = serializers.ChoiceField(list(slots.LABELS))  # type: ignore[assignment] # a field of the body
    consent = serializers.BooleanField(default=False)
    may_publish = serializers.BooleanField(default=False)


class Calls(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "turns"

    def get_throttles(self) -> list[Any]:
        return super().get_throttles() if self.request.method == "POST" else []

    @extend_schema(
        operation_id="get_calls",
        summary="The two calls of a voice battle",
        responses={200: answer(SlotsJson), **refusals(404, 422)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        return Response(slots_json(_own_voice_battle(request, battle_id)))

    @extend_schema(
        operation_id="open_call",
        summary="Open a call to one of both agents",
        description="Open a call to agent `a` or `b` of an own voice battle. Agent A is called first. Calls are "
        "recorded, so the visitor's `consent` is needed; with `may_publish` others can hear the recordings after the "
        "vote. Send the turn (`POST battles/{battle_id}/turns`) once both calls have ended.",
        request=body(
            label={"type": "string", "enum": list(slots.LABELS)},
            consent={"type": "boolean", "default": False},
            may_publish={"type": "boolean", "default": False},
        ),
        responses={201: answer(OpenedCall), **refusals(*BODY_REFUSED, 404, 409, 422, 429, 503)},
    )
    def post(self, request: Request, battle_id: str) -> Response:
        battle = _own_voice_battle(request, battle_id)
        if not offered.is_offered():
            raise VoiceOff(offered.trouble() or "voice battles are off: ARENA_KINDS does not name voice")
        wanted = CallSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        asked = wanted.validated_data
        call = slots.open_slot(battle, asked["label"], asked["consent"], asked["may_publish"])
        address = sockets.address(call, split_domain_port(request.get_host())[0])
        return Response({**slot_json(call.label, call), "socket": address}, status=201)


class AgentMetrics(ArenaView):
    @extend_schema(
        operation_id="get_agent_metrics",
        summary="What is computed of both calls of a voted battle",
        description="After the vote: `status` is computing, partial (latencies, slots, criteria), complete (with the "
        "words that a recogniser hears) or failed. Sockets of the battle get `battle.evaluated` after each step.",
        responses={200: OpenApiResponse(OpenApiTypes.OBJECT), **refusals(404, 409, 410, 422)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = row_or_none(Battle.objects.select_related("session").filter(battle_id=battle_id))
        if battle is None or not revealed(battle):
            check_may_look(request, battle.session if battle else None)
        if battle is None:
            raise NotFound
        check_public(request, battle)
        kinds.check(battle.session, VOICE)
        if not revealed(battle):
            raise NotVoted("What is computed of both calls comes with the vote.")
        held = {each.agent_label: each for each in Conversation.objects.filter(call__battle=battle)}
        return Response(
            {
                "battle_id": battle_id,
                "status": results.status_of(list(held.values())) if held else "failed",
                **{label: results.figures(held[label]) if label in held else None for label in slots.LABELS},
            }
        )


class Recording(ArenaView):
    """`whose`: of the caller or of the agent."""

    whose = "caller"

    @extend_schema(
        summary="A recording of a call",
        description="After the vote, as WAV (16 kHz, mono, 16 bits), and as Opus in Ogg once the call was evaluated. "
        "Both recordings begin together. Others than its visitor hear it if the visitor agreed to that.",
        responses={
            (200, "audio/wav"): OpenApiTypes.BINARY,
            (200, "audio/ogg"): OpenApiTypes.BINARY,
            **refusals(404, 409, 410, 422),
        },
    )
    def get(self, request: Request, episode_id: str) -> FileResponse:
        found = find_shown(request, episode_id, exact=True)
        kinds.check(found.attempt.turn.battle.session, VOICE)
        held = getattr(found.attempt, "conversation", None)
        if held is None:
            raise NotFound
        if held.call is None or not held.call.may_publish:
            check_may_look(request, found.attempt.turn.battle.session)
        name = getattr(held, results.AUDIO[self.whose])
        if not name:
            raise EpisodeExpired
        try:
            file = (Path(settings.VOICE["recordings"]) / name).open("rb")
        except FileNotFoundError:
            raise EpisodeExpired from None
        return FileResponse(file, content_type=results.TYPES[Path(name).suffix])


@extend_schema_view(get=extend_schema(summary="What the visitor said in a call"))
class CallerRecording(Recording):
    whose = "caller"


@extend_schema_view(get=extend_schema(summary="What the agent said in a call"))
class AgentRecording(Recording):
    whose = "agent"


RECORDINGS = (CallerRecording, AgentRecording)


def slots_json(battle: Battle) -> SlotsJson:
    known = {call.label: call for call in Call.objects.filter(battle=battle)}
    return {"battle_id": battle.battle_id, "calls": [slot_json(label, known.get(label)) for label in slots.LABELS]}


def slot_json(label: str, call: Call | None) -> SlotJson:
    if call is None:
        return {"label": label, "status": Call.Status.OPEN, "tries_left": slots.MOST_TRIES}
    left = 0 if call.settled else slots.MOST_TRIES + 1 - call.tries
    return {"label": label, "status": call.status, "tries_left": left}


def _own_voice_battle(request: Request, battle_id: str) -> Battle:
    battle = own_battle(request, battle_id)
    kinds.check(battle.session, VOICE)
    return battle
