"""What a visitor can do with a turn that is under way: ask how long it waits, and stop it."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from arena import selectors
from arena.actions.cancel import cancel_turn
from arena.api.schema import answer, refusals
from arena.api.views import ArenaView
from arena.errors import NotFound
from arena.queue.admission import QueueJson, queue_position
from arena.shapes import TurnJson
from arena.visitors.permissions import check_may_act, check_may_look
from arena.visitors.throttles import CancelsLimited


class TurnQueue(ArenaView):
    @extend_schema(
        operation_id="get_turn_queue",
        description="How many turns are ahead of this one, and about how long they will take.",
        responses={200: answer(QueueJson), **refusals(404)},
    )
    def get(self, request: Request, turn_id: str) -> Response:
        turn = selectors.find_turn(turn_id)
        check_may_look(request, turn.battle.session if turn else None)
        return Response(queue_position(turn)) if turn else Response(status=404)


class CancelTurn(ArenaView):
    throttle_classes = [CancelsLimited]

    @extend_schema(
        operation_id="cancel_turn",
        description="Stop a turn whose end is not told yet. It counts as not having been; both sides say `cancelled`.",
        request=None,
        responses={200: answer(TurnJson), **refusals(403, 404, 409, 429)},
    )
    def post(self, request: Request, turn_id: str) -> Response:
        turn = selectors.find_turn(turn_id)
        if turn is None:
            raise NotFound
        check_may_act(request, turn.battle.session)
        cancelled = cancel_turn(turn)
        return Response(selectors.turn_json(cancelled, show_outcome=False))
