"""The HTTP API of sessions, battles, episodes and votes. That of turns is in `arena.api.turns`."""

from __future__ import annotations

from functools import partial
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena import actions, kinds, selectors, shapes
from arena.api.parsers import SmallJSONParser
from arena.api.schema import BODY_REFUSED, answer, body, place_fields, reasons_field, refusals
from arena.api.serializers import SessionChoiceSerializer, VoteSerializer, chosen_kind, clean_reasons, is_public_id
from arena.errors import NotFound
from arena.models import Battle, Session, VoteChoice, row_or_none
from arena.recordings import read_recording
from arena.shapes import OpenedBattle
from arena.visitors import cookies, networks
from arena.visitors.challenges import HEADER
from arena.visitors.permissions import SameSite, VisitorSession, check_may_look, check_public, own_battle, own_session
from arena.visitors.throttles import CrowdsChallenged, Limited, ip_of

CHALLENGE_ANSWER = OpenApiParameter(
    HEADER, str, OpenApiParameter.HEADER, description="Of a challenge that 428 `challenge_required` brought"
)


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
        summary="Open a session and its first battle",
        parameters=[CHALLENGE_ANSWER],
        description="Open a session and its first battle. Sets the visitor's cookie where there is none. `any` for a "
        "part of the place lets chance choose it; the answer tells the place.",
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
        summary="The visitor's sessions",
        description="The visitor's own sessions, newest activity first.",
        parameters=[OpenApiParameter("mine", OpenApiTypes.STR, description="There are no others to list")],
        responses={200: answer(shapes.SessionList)},
    )
    def get(self, request: Request) -> Response:
        return Response({"results": selectors.sessions_of(self.visitor) if self.visitor else []})


class SessionsOfUser(ArenaView):
    @extend_schema(
        operation_id="list_sessions_of_user",
        summary="The same, under the visitor's id",
        description="The same under the visitor's own id (or `me`); 404 for any other.",
        responses={200: answer(shapes.SessionList), **refusals(404)},
    )
    def get(self, request: Request, user_id: str) -> Response:
        if self.visitor is None or user_id not in (self.visitor, "me"):
            raise NotFound
        return Response({"results": selectors.sessions_of(self.visitor)})


class SessionDetail(ArenaView):
    @extend_schema(
        operation_id="get_session",
        summary="A session and its battles",
        responses={200: answer(shapes.SessionJson), **refusals(404)},
    )
    def get(self, request: Request, session_id: str) -> Response:
        session = check_may_look(request, row_or_none(Session.objects.filter(session_id=session_id)))
        return Response(selectors.session_json(session))


class BattlesOfSession(ArenaView):
    @extend_schema(
        operation_id="list_battles_of_session",
        summary="The battles of a session",
        responses={200: answer(shapes.BattleList), **refusals(404)},
    )
    def get(self, request: Request, session_id: str) -> Response:
        session = check_may_look(request, row_or_none(Session.objects.filter(session_id=session_id)))
        return Response({"results": selectors.battles_of(session)})


class NextBattle(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "sessions"

    @extend_schema(
        operation_id="open_next_battle",
        summary="Open the session's next battle",
        description="Open the session's next battle, with a new pair. An ongoing one without a vote is abandoned.",
        request=None,
        responses={201: answer(OpenedBattle), **refusals(403, 404, 409, 429, 503)},
    )
    def post(self, request: Request, session_id: str) -> Response:
        return Response(_opened(actions.open_next_battle(own_session(request, session_id))), status=201)


class Battles(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "sessions"

    @extend_schema(
        operation_id="open_battle",
        summary="Open a battle in a session named in the body",
        description="The same as `POST sessions/{session_id}/battles`, with the session in the body.",
        request=body(session_id={"type": "string"}),
        responses={201: answer(OpenedBattle), **refusals(*BODY_REFUSED, 404, 409, 422, 429, 503)},
    )
    def post(self, request: Request) -> Response:
        wanted = SessionChoiceSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        session = own_session(request, wanted.validated_data["session_id"])
        return Response(_opened(actions.open_next_battle(session)), status=201)


class BattleDetail(ArenaView):
    @extend_schema(
        operation_id="get_battle",
        summary="A battle as the visitor may see it now",
        responses={200: answer(shapes.BattleJson), **refusals(404)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = selectors.find_battle(battle_id)
        if battle is None:
            raise NotFound
        check_may_look(request, battle.session)
        return Response(selectors.battle_json(battle))


class EpisodeDetail(ArenaView):
    @extend_schema(
        operation_id="get_episode",
        summary="A recorded episode as JSON",
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
        summary="A voted battle, for anybody",
        description="A voted battle, for anybody who has its address; 404 for one that has no vote, "
        "410 `battle_hidden` for one that a moderator hid.",
        responses={200: answer(shapes.SharedBattle), **refusals(404, 410)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = selectors.shared_battle(battle_id, partial(check_public, request))
        if battle is None:
            raise NotFound
        return Response(battle)


class Votes(ArenaView):
    throttle_classes = [CrowdsChallenged, Limited]
    throttle_scope = "votes"

    @extend_schema(
        operation_id="cast_vote",
        summary="Vote, and learn who was who",
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


def _opened(battle: Battle) -> OpenedBattle:
    return {
        "session_id": battle.session_id,
        "battle_id": battle.battle_id,
        "kind": battle.session.kind,
        **kinds.of(battle.session).place_json(kinds.place_of(battle.session)),
        "left_model": selectors.HIDDEN,
        "right_model": selectors.HIDDEN,
    }
