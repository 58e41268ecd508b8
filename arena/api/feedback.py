"""The HTTP API of feedback: what a visitor adds to a vote of theirs."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from arena import actions, kinds, selectors, shapes
from arena.actions.feedback import check_voted
from arena.api.schema import BODY_REFUSED, answer, body, progress_field, reasons_field, refusals
from arena.api.serializers import clean_feedback
from arena.api.views import ArenaView
from arena.models import WHY_LENGTH, Feedback, row_or_none
from arena.visitors.permissions import own_battle
from arena.visitors.throttles import Limited


class FeedbackOnVote(ArenaView):
    throttle_classes = [Limited]
    throttle_scope = "feedback"

    @extend_schema(
        operation_id="get_feedback",
        summary="What was added to a vote",
        description="What the visitor has added to the vote of a battle of theirs; empty if nothing.",
        responses={200: answer(shapes.FeedbackJson), **refusals(404, 409)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        battle = own_battle(request, battle_id)
        check_voted(battle)
        found = row_or_none(Feedback.objects.filter(battle=battle))
        return Response(selectors.feedback_json(battle, found))

    @extend_schema(
        operation_id="put_feedback",
        summary="Add to a vote",
        description="Replace what the visitor has added to the vote of a battle of theirs. It is stored apart from the "
        "vote, counts in no ranking, and is shown to nobody but the visitor and the arena's staff.",
        request=body(
            reasons=reasons_field(),
            why={"type": "string", "maxLength": WHY_LENGTH, "default": ""},
            progress=progress_field(),
        ),
        responses={200: answer(shapes.FeedbackJson), **refusals(*BODY_REFUSED, 404, 409, 422, 429)},
    )
    def put(self, request: Request, battle_id: str) -> Response:
        battle = own_battle(request, battle_id)
        said = clean_feedback(request.data, kinds.of(battle.session))
        return Response(selectors.feedback_json(battle, actions.save_feedback(battle, said)))
