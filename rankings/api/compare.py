"""Is A better than B at this task? The page of the same name shows the same answer."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena import kinds
from arena.api.schema import answer, refusals
from rankings.analysis.comparison import Comparison
from rankings.api.pair_queries import KIND, PairQuery, evidence
from rankings.publication.published import current

PARAMETERS = [
    KIND,
    OpenApiParameter("a", str, required=True, description="A model_id."),
    OpenApiParameter("b", str, required=True, description="The model_id of another one."),
    OpenApiParameter("task", str, description="At this task; without it over all tasks, as the board says."),
    OpenApiParameter("robot_id", str, description="On this robot; without it on all robots together."),
]


class CompareView(APIView):
    @extend_schema(
        operation_id="compare_models",
        summary="Two models against each other",
        description=(
            "How probable it is that one model is better than another, at one task or over all, from what was "
            "published last; with the votes on the two and how often each reached the goal."
        ),
        parameters=PARAMETERS,
        responses={200: answer(Comparison), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        query = PairQuery.of(request.query_params)
        now = current(kinds.named(query.kind))
        query.check(now)
        found = evidence(now.published)
        return Response(found.compare(query.a, query.b, task=query.task, setting=query.setting))
