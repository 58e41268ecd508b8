"""The HTTP API of turns: sending and reading one, its place in the queue, and cancelling it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from threading import Event

from django.conf import settings
from django.db import close_old_connections
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from arena import actions, kinds, selectors
from arena.actions.cancel import cancel_turn
from arena.api.long_poll import disconnected
from arena.api.schema import BODY_REFUSED, answer, body, refusals
from arena.api.serializers import TurnSerializer
from arena.api.views import ArenaView
from arena.errors import NotFound
from arena.kinds import Kind
from arena.models import StartKind, Turn
from arena.queue.admission import QueueJson, queue_position
from arena.rules import revealed, told_status
from arena.shapes import SentStart, SentTurn, Status, TurnJson
from arena.starts import CHOICES, ONE
from arena.visitors.permissions import check_may_act, check_may_look, own_battle
from arena.visitors.throttles import Limited, caller_of, callers_of, spend, spend_more

LONGEST_WAIT_S = 60
POLL_S = 0.05
LONGEST_INSTRUCTION = max((kind.longest_instruction for kind in kinds.every()), default=settings.INSTRUCTION_MAX_LENGTH)
"""Of any kind, in characters; each kind has its own limit."""
WAIT = re.compile(r'(?:^|[,;\s])wait\s*=\s*"?(\d{1,9})"?', re.IGNORECASE)


class Turns(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "turns"

    @extend_schema(
        operation_id="send_turn",
        summary="Give both sides an instruction",
        description="Give both sides an instruction. Answers 202 at once; with `Prefer: wait=60` it waits up to a "
        "minute and answers 200 once the turn's end is told, which is when its clock has shown it. Only a few may wait "
        "at once: the others get 202 at once, without `Preference-Applied`. With `starts: 3` in a battle's first "
        "instruction it is played from three first states, one turn after the other, for one vote; the answer tells "
        "the first of them, and all in `starts`.",
        parameters=[OpenApiParameter("Prefer", str, OpenApiParameter.HEADER, description="wait=SECONDS, at most 60")],
        request=body(
            instruction={"type": "string", "maxLength": LONGEST_INSTRUCTION},
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
        kind = kinds.of(battle.session)
        spend_kind(kind, request)
        instruction = kind.clean_instruction(sent["instruction"])
        kind.check_instruction(battle, instruction, sent["starts"])
        task = actions.TurnRequest(instruction, StartKind(sent["start"]), sent["starts"])
        spend_more("turns", request, self.spent_at, task.starts - 1)  # several starts are as many turns
        return answer_turns(request, actions.submit_instruction(battle, task, caller_of(request._request)))


class TurnDetail(ArenaView):
    @extend_schema(
        operation_id="get_turn",
        summary="A turn as the visitor may see it now",
        responses={200: answer(TurnJson), **refusals(404)},
    )
    def get(self, request: Request, turn_id: str) -> Response:
        turn = _visible_turn(request, turn_id)
        return Response(selectors.turn_json(turn, revealed(turn.battle)))


class TurnQueue(ArenaView):
    @extend_schema(
        operation_id="get_turn_queue",
        summary="How many turns are ahead of this one",
        description="How many turns are ahead of this one, and about how long they will take.",
        responses={200: answer(QueueJson), **refusals(404)},
    )
    def get(self, request: Request, turn_id: str) -> Response:
        return Response(queue_position(_visible_turn(request, turn_id)))


class CancelTurn(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "cancels"

    @extend_schema(
        operation_id="cancel_turn",
        summary="Stop a turn",
        description="Stop a turn whose end is not told yet. It counts as never played; both sides say `cancelled`.",
        request=None,
        responses={200: answer(TurnJson), **refusals(403, 404, 409, 429)},
    )
    def post(self, request: Request, turn_id: str) -> Response:
        turn = selectors.find_turn(turn_id)
        if turn is None:
            raise NotFound
        check_may_act(request, turn.battle.session)
        return Response(selectors.turn_json(cancel_turn(turn), show_outcome=False))


def spend_kind(kind: Kind, request: Request) -> None:
    """Count an instruction under the limits of its kind. Raises TooMany."""
    if kind.counted_as:
        spend(kind.counted_as, callers_of(request._request))


def answer_turns(request: Request, turns: list[Turn]) -> Response:
    """202 at once, or, with `Prefer: wait=N`, 200 once the end of the last turn is told.

    `status` is that of the last turn, the ids are those of the first one. `starts` has the ids of several starts.
    """
    wait_s = _wait_wanted(request.headers)
    status = wait_for(turns[-1].turn_id, wait_s, disconnected(request._request)) if wait_s else "running"
    settled = status in ("completed", "failed")
    sent = {**_ids(turns[0]), "status": status if settled else "running"}
    if turns[0].start_seed is not None:
        sent["starts"] = [_ids(turn) for turn in turns]
    response = Response(sent, status=200 if settled else 202)
    if wait_s:
        response["Preference-Applied"] = f"wait={wait_s}"
    return response


def _visible_turn(request: Request, turn_id: str) -> Turn:
    """A turn that this caller may see. Raises NotFound."""
    turn = selectors.find_turn(turn_id)
    if turn is None:
        raise NotFound
    check_may_look(request, turn.battle.session)
    return turn


def _ids(turn: Turn) -> SentStart:
    sides = {attempt.side: attempt.episode_id for attempt in turn.attempts.all()}
    return {"turn_id": turn.turn_id, "left_episode_id": sides["left"], "right_episode_id": sides["right"]}


def _wait_wanted(headers: Mapping[str, str]) -> int:
    """The seconds of `Prefer: wait=N` (RFC 7240), at most LONGEST_WAIT_S. 0 without the header."""
    found = WAIT.search(headers.get("Prefer", ""))
    return min(int(found[1]), LONGEST_WAIT_S) if found else 0


def wait_for(turn_id: str, seconds: int, client_gone: Event) -> Status:
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
