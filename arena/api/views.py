"""The HTTP API of sessions, battles, turns, episodes and votes: parse, check, act, answer."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from threading import Event
from typing import Any

from django.conf import settings
from django.db import close_old_connections
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena import actions, kinds, selectors, shapes
from arena.api.long_poll import disconnected
from arena.api.parsers import SmallJSONParser
from arena.api.schema import BODY_REFUSED, answer, body, place_fields, reasons_field, refusals
from arena.api.serializers import (
    SessionChoiceSerializer,
    TurnSerializer,
    VoteSerializer,
    chosen_kind,
    clean_reasons,
    is_public_id,
)
from arena.errors import NotFound
from arena.models import Battle, Session, StartKind, Turn, VoteChoice, row_or_none
from arena.recordings import read_recording
from arena.rules import revealed, told_status
from arena.shapes import OpenedBattle, SentStart, SentTurn, Status, TurnJson
from arena.starts import CHOICES, ONE
from arena.visitors import cookies, networks
from arena.visitors.challenges import HEADER
from arena.visitors.permissions import SameSite, VisitorSession, check_may_look, own_battle, own_session
from arena.visitors.throttles import CrowdsChallenged, Limited, caller_of, ip_of, spend_more

LONGEST_WAIT_S = 60
POLL_S = 0.05
CHALLENGE_ANSWER = OpenApiParameter(
    HEADER, str, OpenApiParameter.HEADER, description="Of a challenge that 428 `challenge_required` brought"
)
WAIT = re.compile(r'(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?', re.IGNORECASE)


class ArenaView(APIView):
    """A call on behalf of a visitor. No cache on the way may keep its answers, which are the visitor's alone."""

    authentication_classes = [VisitorSession]
    permission_classes = [SameSite]
    parser_classes = [SmallJSONParser]
    spent_at = 0.0  # when the throttle counted the call

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any(name != "user_id" and not is_public_id(value) for name, value in kwargs.items()):
            raise NotFound

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        response = super().finalize_response(request, response, *args, **kwargs)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    @property
    def visitor(self) -> str | None:
        return cookies.visitor_of(self.request._request)


class InitSession(ArenaView):
    throttle_classes = [CrowdsChallenged, Limited]
    throttle_scope = "sessions"

    @extend_schema(
        operation_id="init_session",
        parameters=[CHALLENGE_ANSWER],
        description="Open a session and its first battle. Sets the visitor's cookie where there is none.",
        request=body(**place_fields()),
        responses={201: answer(OpenedBattle), **refusals(*BODY_REFUSED, 422, 428, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        kind = chosen_kind(request.data)
        visitor = self.visitor or cookies.new_visitor()
        battle = actions.open_session(kind, kind.choose(request.data), visitor)
        response = Response(_opened(battle), status=201)
        cookies.remember(response, visitor, secure=request.is_secure())
        return response


class OwnSessions(ArenaView):
    @extend_schema(
        operation_id="list_sessions",
        description="The visitor's own sessions, newest activity first.",
        parameters=[OpenApiParameter("mine", OpenApiTypes.STR, description="There are no others to list")],
        responses={200: answer(shapes.SessionList)},
    )
    def get(self, request: Request) -> Response:
        return Response({"results": selectors.sessions_of(self.visitor) if self.visitor else []})


class SessionsOfUser(ArenaView):
    @extend_schema(
        operation_id="list_sessions_of_user",
        description="The same under the visitor's own id (or `me`); 404 for any other.",
        responses={200: answer(shapes.SessionList), **refusals(404)},
    )
    def get(self, request: Request, user_id: str) -> Response:
        if self.visitor is None or user_id not in (self.visitor, "me"):
            raise NotFound
        return Response({"results": selectors.sessions_of(self.visitor)})


class SessionDetail(ArenaView):
    @extend_schema(operation_id="get_session", responses={200: answer(shapes.SessionJson), **refusals(404)})
    def get(self, request: Request, session_id: str) -> Response:
        session = check_may_look(request, row_or_none(Session.objects.filter(session_id=session_id)))
        return Response(selectors.session_json(session))


class BattlesOfSession(ArenaView):
    @extend_schema(operation_id="list_battles_of_session", responses={200: answer(shapes.BattleList), **refusals(404)})
    def get(self, request: Request, session_id: str) -> Response:
        session = check_may_look(request, row_or_none(Session.objects.filter(session_id=session_id)))
        return Response({"results": selectors.battles_of(session)})


class NextBattle(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "sessions"

    @extend_schema(
        operation_id="open_next_battle",
        description="Open the session's next battle, with a new pair. An ongoing one without a vote is abandoned.",
        request=None,
        responses={201: answer(OpenedBattle), **refusals(403, 404, 429, 503)},
    )
    def post(self, request: Request, session_id: str) -> Response:
        return Response(_opened(actions.open_next_battle(own_session(request, session_id))), status=201)


class Battles(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "sessions"

    @extend_schema(
        operation_id="open_battle",
        description="The same as `POST sessions/{session_id}/battles`, with the session in the body.",
        request=body(session_id={"type": "string"}),
        responses={201: answer(OpenedBattle), **refusals(*BODY_REFUSED, 404, 422, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        wanted = SessionChoiceSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        session = own_session(request, wanted.validated_data["session_id"])
        return Response(_opened(actions.open_next_battle(session)), status=201)


class BattleDetail(ArenaView):
    @extend_schema(operation_id="get_battle", responses={200: answer(shapes.BattleJson), **refusals(404)})
    def get(self, request: Request, battle_id: str) -> Response:
        battle = selectors.find_battle(battle_id)
        if battle is None:
            raise NotFound
        check_may_look(request, battle.session)
        return Response(selectors.battle_json(battle))


class Turns(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "turns"

    @extend_schema(
        operation_id="send_turn",
        description="Give both sides an instruction. Answers 202 at once; with `Prefer: wait=60` it waits up to a "
        "minute and answers 200 once the turn's end is told, which is when its clock has shown it. Only a few may wait "
        "at once: the others get 202 at once, without `Preference-Applied`. With `starts: 3` in a battle's first "
        "instruction it is played from three first states, one turn after the other, for one vote; the answer tells "
        "the first of them, and all in `starts`.",
        parameters=[OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="wait=SECONDS, at most 60")],
        request=body(
            instruction={"type": "string", "maxLength": settings.INSTRUCTION_MAX_LENGTH},
            start={"type": "string", "enum": StartKind.values, "default": "continue"},
            starts={"type": "integer", "enum": list(CHOICES), "default": ONE},
        ),
        responses={200: answer(SentTurn), 202: answer(SentTurn), **refusals(*BODY_REFUSED, 404, 409, 422, 429, 503)},
    )
    def post(self, request: Request, battle_id: str) -> Response:
        battle = own_battle(request, battle_id)
        wanted = TurnSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        sent = wanted.validated_data
        instruction = kinds.of(battle.session).clean_instruction(sent["instruction"])
        task = actions.Task(instruction, StartKind(sent["start"]), sent["starts"])
        spend_more("turns", request, self.spent_at, task.starts - 1)  # several starts are as many turns
        return answer_turns(request, actions.submit_instruction(battle, task, caller_of(request._request)))


class TurnDetail(ArenaView):
    @extend_schema(operation_id="get_turn", responses={200: answer(TurnJson), **refusals(404)})
    def get(self, request: Request, turn_id: str) -> Response:
        turn = visible_turn(request, turn_id)
        return Response(selectors.turn_json(turn, revealed(turn.battle)))


class EpisodeDetail(ArenaView):
    @extend_schema(
        operation_id="get_episode",
        description="A recorded episode, once both sides of its turn have settled. Before the vote it is what can be "
        "seen: positions rounded to 0.2 mm and 0.1 degrees, 25 times a second, as long as the longer side's "
        "(`exact` is false; no actions, no velocities, no outcome). With the vote it is the exact recording.",
        responses={200: OpenApiTypes.OBJECT, **refusals(404, 410, 503)},
    )
    def get(self, request: Request, episode_id: str) -> Response:
        found, document = read_recording(request, episode_id)
        kind = kinds.of(found.attempt.turn)
        return Response(kind.recording(found.attempt, document, found.common_length, found.is_exact))


class SharedBattleDetail(ArenaView):
    @extend_schema(
        operation_id="get_shared_battle",
        description="A voted battle, for anybody who has its address; 404 for one that has no vote.",
        responses={200: answer(shapes.SharedBattle), **refusals(404)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = selectors.shared_battle(battle_id)
        if battle is None:
            raise NotFound
        return Response(battle)


class Votes(ArenaView):
    throttle_classes = [CrowdsChallenged, Limited]
    throttle_scope = "votes"

    @extend_schema(
        operation_id="cast_vote",
        parameters=[CHALLENGE_ANSWER],
        description="End a battle and learn who was who. `reasons` may say in which respects a side was better.",
        request=body(
            battle_id={"type": "string"},
            vote={"type": "string", "enum": VoteChoice.values},
            reasons=reasons_field(),
        ),
        responses={201: answer(shapes.CastVote), **refusals(*BODY_REFUSED, 404, 409, 422, 428, 429)},
    )
    def post(self, request: Request) -> Response:
        wanted = VoteSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        sent = wanted.validated_data
        battle = own_battle(request, sent["battle_id"])
        reasons = clean_reasons(sent["reasons"], kinds.of(battle.session))
        vote = actions.cast_vote(battle, sent["vote"], reasons, networks.digests_of(ip_of(request._request)))
        names = selectors.revealed_models(vote.battle)
        return Response({"vote_id": vote.vote_id, "revealed_models": names}, status=201)


def visible_turn(request: Request, turn_id: str) -> Turn:
    """A turn that this caller may see. Raises NotFound."""
    turn = selectors.find_turn(turn_id)
    if turn is None:
        raise NotFound
    check_may_look(request, turn.battle.session)
    return turn


def answer_turns(request: Request, turns: list[Turn]) -> Response:
    """202 at once, or, with `Prefer: wait=N`, 200 once the end of the last turn is told.

    `status` is that of the last turn, the ids are those of the first one. `starts` has the ids of several starts.
    """
    wait_s = _wait_wanted(request.headers)
    status = _wait_for(turns[-1].turn_id, wait_s, disconnected(request._request)) if wait_s else "running"
    settled = status in ("completed", "failed")
    sent = {**_ids(turns[0]), "status": status if settled else "running"}
    if turns[0].start_seed is not None:
        sent["starts"] = [_ids(turn) for turn in turns]
    response = Response(sent, status=200 if settled else 202)
    if wait_s:
        response["Preference-Applied"] = f"wait={wait_s}"
    return response


def _opened(battle: Battle) -> OpenedBattle:
    return {
        "session_id": battle.session_id,
        "battle_id": battle.battle_id,
        "kind": battle.session.kind,
        **kinds.of(battle.session).told(kinds.place_of(battle.session)),
        "left_model": selectors.HIDDEN,
        "right_model": selectors.HIDDEN,
    }


def _ids(turn: Turn) -> SentStart:
    sides = {attempt.side: attempt.episode_id for attempt in turn.attempts.all()}
    return {"turn_id": turn.turn_id, "left_episode_id": sides["left"], "right_episode_id": sides["right"]}


def _wait_wanted(headers: Mapping[str, str]) -> int:
    """Seconds of `Prefer: wait=N` (RFC 7240), at most a minute; 0 without one."""
    found = WAIT.search(headers.get("Prefer", ""))
    return min(int(found[1]), LONGEST_WAIT_S) if found else 0


def _wait_for(turn_id: str, seconds: int, client_gone: Event) -> Status:
    """The turn's status once its end is told, or after so many seconds, or when the client has gone.

    Holds no transaction and no connection while it waits.
    """
    deadline = time.monotonic() + seconds
    while True:
        turn = selectors.find_turn(turn_id)
        if turn is None:
            raise NotFound
        status = told_status(turn)
        if status in ("completed", "failed") or time.monotonic() >= deadline or client_gone.is_set():
            return status
        close_old_connections()
        client_gone.wait(POLL_S)
