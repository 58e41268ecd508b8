"""Two calls by which a script compares language models: one message, both answers, one preference.

They are thin: sessions, turns, limits, blindness and votes are those of every battle, and the page and the other calls
see the same battles.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from typing_extensions import TypedDict

from arena import actions, kinds, selectors
from arena.actions.turns import TurnRequest
from arena.api.long_poll import disconnected, must_not_wait
from arena.api.schema import BODY_REFUSED, answer, body, refusals
from arena.api.serializers import clean_reasons, public_id
from arena.api.turns import LONGEST_INSTRUCTION, LONGEST_WAIT_S, spend_kind, wait_for
from arena.api.views import CHALLENGE_ANSWER, ArenaView
from arena.errors import InvalidVote
from arena.kinds import Kind
from arena.models import Battle, Side, Turn, VoteChoice
from arena.shapes import Hidden, Revealed, Status
from arena.store import get_store
from arena.visitors import cookies, networks
from arena.visitors.permissions import own_battle
from arena.visitors.throttles import CrowdsChallenged, Limited, caller_of, callers_of, ip_of, spend
from texts.models import TEXT

PREFERENCES = {
    "left": VoteChoice.LEFT_BETTER,
    "right": VoteChoice.RIGHT_BETTER,
    "tie": VoteChoice.TIE,
    "both_bad": VoteChoice.BOTH_BAD,
}


class BothAnswers(TypedDict):
    """The answers are null while the turn runs, and where it failed. `turn_id`: for `GET turns/{id}` and its kin."""

    battle_id: str
    session_id: str
    turn_id: str
    status: Status
    response_a: str | None
    response_b: str | None
    model_a: Hidden
    model_b: Hidden


class Preferred(TypedDict):
    vote_id: str
    battle_id: str
    preference: Literal["left", "right", "tie", "both_bad"]
    model_a: Revealed
    model_b: Revealed


class OneCallBattle(ArenaView):
    throttle_classes = [CrowdsChallenged, Limited]
    throttle_scope = "turns"

    @extend_schema(
        operation_id="battle_in_one_call",
        summary="Two hidden language models answer a message",
        description="Open a battle of language models and send it a message, or with `battle_id` send the next message "
        "of that battle. Waits for both answers, up to a minute: then, or where many wait already, it answers 202 with "
        "the turn that runs. `response_a` is the left side's. Sets the visitor's cookie, which the vote needs.",
        parameters=[CHALLENGE_ANSWER],
        request=body(
            message={"type": "string", "maxLength": LONGEST_INSTRUCTION},
            battle_id={"type": "string", "default": ""},
        ),
        responses={
            **dict.fromkeys((200, 202), answer(BothAnswers)),
            **refusals(*BODY_REFUSED, 404, 409, 422, 428, 429, 503),
        },
    )
    def post(self, request: Request) -> Response:
        kind, sent = kinds.get_offered(TEXT), _body(request)
        visitor = self.visitor or cookies.new_visitor()
        battle = _named(request, kind) if sent.get("battle_id") else None
        spend_kind(kind, request)
        message = kind.clean_instruction(sent.get("message"))
        if battle is None:
            spend("sessions", callers_of(request._request))
            battle = actions.open_session(kind, kind.choose({}), visitor)
        [turn] = actions.submit_instruction(battle, TurnRequest(message), caller_of(request._request))
        wait_s = 0 if must_not_wait(request._request) else LONGEST_WAIT_S
        status = wait_for(turn.turn_id, wait_s, disconnected(request._request))
        told = _told(battle, turn, status)
        response = Response(told, status=200 if told["status"] != "running" else 202)
        cookies.remember(response, visitor, secure=request.is_secure())
        return response


class OneCallVote(ArenaView):
    throttle_classes = [CrowdsChallenged, Limited]
    throttle_scope = "votes"

    @extend_schema(
        operation_id="vote_in_one_call",
        summary="Say which answer is better, and learn who was who",
        description="The same as `POST votes`: left is `left_better`, right is `right_better`.",
        parameters=[CHALLENGE_ANSWER],
        request=body(battle_id={"type": "string"}, preference={"type": "string", "enum": list(PREFERENCES)}),
        responses={201: answer(Preferred), **refusals(*BODY_REFUSED, 404, 409, 422, 428, 429)},
    )
    def post(self, request: Request) -> Response:
        said = _body(request).get("preference")
        if not isinstance(said, str) or said not in PREFERENCES:
            known = list(PREFERENCES)
            raise InvalidVote(f"A preference is one of {', '.join(known)}.", known=known)
        kind = kinds.get(TEXT)
        battle = _named(request, kind)
        network = networks.digests_of(ip_of(request._request))
        vote = actions.cast_vote(battle, PREFERENCES[said], clean_reasons(None, kind), network)
        names = selectors.revealed_models(vote.battle)
        told = {"vote_id": vote.vote_id, "battle_id": battle.battle_id, "preference": said}
        return Response({**told, "model_a": names["left"], "model_b": names["right"]}, status=201)


def _body(request: Request) -> dict[str, Any]:
    """An object: `SmallJSONParser` refuses anything else."""
    return cast("dict[str, Any]", request.data)


def _named(request: Request, kind: Kind) -> Battle:
    """The visitor's own battle that the body names. Raises NotFound, and OtherKind for one of another kind."""
    battle = own_battle(request, public_id(_body(request).get("battle_id")))
    kinds.check(battle.session, kind.id)
    return battle


def _told(battle: Battle, turn: Turn, status: Status) -> dict[str, Any]:
    texts = dict.fromkeys(Side, None) if status != "completed" else _texts(turn)
    return {
        "battle_id": battle.battle_id,
        "session_id": battle.session_id,
        "turn_id": turn.turn_id,
        "status": status if status in ("completed", "failed") else "running",
        "response_a": texts[Side.LEFT],
        "response_b": texts[Side.RIGHT],
        "model_a": selectors.HIDDEN,
        "model_b": selectors.HIDDEN,
    }


def _texts(turn: Turn) -> dict[Side, str | None]:
    """The recorded answers of a completed turn, whose end has been told."""
    found = {attempt.side: get_store().get(attempt.episode_id) for attempt in turn.attempts.all()}
    return {side: None if (document := found[side]) is None else str(document["text"]) for side in Side}
