"""The four calls of the rankings."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena.schema import answer, refusals
from rankings import aggregation, selectors, shapes
from rankings.selectors import SORTS, LeaderboardQuery

PARAMETERS = [
    OpenApiParameter("robot_id", str, description="The board of one robot; without it the global board."),
    OpenApiParameter("scene_id", str, description="Only votes in this scene."),
    OpenApiParameter("organization", str),
    OpenApiParameter("family", str, description="Kind of policy."),
    OpenApiParameter("search", str, description="Part of a name or model_id."),
    OpenApiParameter("sort", str, enum=list(SORTS), default="elo"),
    OpenApiParameter(
        "order", str, enum=["asc", "desc"], description="Unless given: names upwards, the rest downwards."
    ),
]


class LeaderboardView(APIView):
    @extend_schema(
        operation_id="get_leaderboard",
        description="The ranked policies, and apart from them those with too few votes for a rank.",
        parameters=PARAMETERS,
        responses={200: answer(shapes.Leaderboard), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        return Response(selectors.leaderboard(LeaderboardQuery.of(request.query_params)))


class StatisticsView(APIView):
    @extend_schema(
        operation_id="get_leaderboard_stats",
        description="Overall figures of the arena.",
        responses={200: answer(shapes.Statistics)},
    )
    def get(self, request: Request) -> Response:
        return Response(selectors.statistics())


class WorkerStatusView(APIView):
    @extend_schema(
        operation_id="get_worker_status",
        description="What the hourly aggregation did last. The wording of an error is for staff.",
        responses={200: answer(shapes.Worker)},
    )
    def get(self, request: Request) -> Response:
        return Response(selectors.worker(for_staff=bool(request.user.is_staff)))


class AggregateView(APIView):
    permission_classes = [IsAdminUser]

    @extend_schema(
        operation_id="aggregate_votes",
        description="Take the pending votes into the boards now (staff only).",
        request=None,
        responses={200: answer(shapes.Aggregated), **refusals(403)},
    )
    def post(self, request: Request) -> Response:
        report = aggregation.aggregate()
        done: shapes.Aggregated = {
            "status": "ok",
            "votes_processed": report.votes_processed,
            "votes_failed": report.votes_failed,
            "rows_changed": report.rows_changed,
        }
        return Response(done)
