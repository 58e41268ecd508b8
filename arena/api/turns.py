"""The HTTP API of a turn that is under way: its place in the queue, and cancelling it."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from arena import selectors
from arena.actions.cancel import cancel_turn
from arena.api.schema import answer, refusals
from arena.api.views import ArenaView, visible_turn
from arena.errors import NotFound
from arena.queue.admission import QueueJson, place_in_queue
from arena.shapes import TurnJson
from arena.visitors.permissions import check_may_act
from arena.visitors.throttles import Limited


class TurnQueue(ArenaView):
    @extend_schema(
        operation_id="get_turn_queue",
        description="How many turns are ahead of this one, and about how long they will take.",
        responses={200: answer(QueueJson), **refusals(404)},
    )
    def get(self, request: Request, turn_id: str) -> Response:
        return Response(place_in_queue(visible_turn(request, turn_id)))


class CancelTurn(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "cancels"

    @extend_schema(
        operation_id="cancel_turn",
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
