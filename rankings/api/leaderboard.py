"""The calls about boards and their aggregation."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from django.contrib.auth.models import User
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BooleanField, CharField, Serializer
from rest_framework.views import APIView

from arena import kinds
from arena.api.parsers import SmallJSONParser
from arena.api.schema import answer, body, refusals
from arena.visitors.throttles import Limited
from rankings.api import selectors, shapes
from rankings.api.pair_queries import KIND
from rankings.api.permissions import SEE_WORKER, MayAggregate
from rankings.api.selectors import SORTS, LeaderboardQuery
from rankings.moderation import acts
from rankings.publication import aggregation

PARAMETERS = [
    KIND,
    OpenApiParameter("robot_id", str, description="The board of one robot; without it the global board."),
    OpenApiParameter("scene_id", str, description="The board of one scene, on this robot or on all."),
    OpenApiParameter("task", str, description="The board of one task, on this robot and in this scene or in all."),
    OpenApiParameter(
        "architecture",
        str,
        description="Of voice: the board of agents of one architecture, by the votes between them alone.",
    ),
    OpenApiParameter("organization", str),
    OpenApiParameter("family", str, description="The family of networks."),
    OpenApiParameter("search", str, description="Part of a name or model_id."),
    OpenApiParameter("sort", str, enum=list(SORTS), default="elo"),
    OpenApiParameter("order", str, enum=["asc", "desc"], description="Default: names ascending, all else descending."),
]


class LeaderboardView(APIView):
    @extend_schema(
        operation_id="get_leaderboard",
        summary="A leaderboard",
        description=(
            "The board of a robot, a scene, a task, or of any of them together: the ranked policies, and apart from "
            "them those with too few votes for a rank."
        ),
        parameters=PARAMETERS,
        responses={200: answer(shapes.Leaderboard), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        return Response(selectors.leaderboard(LeaderboardQuery.of(request.query_params)))


class StatisticsView(APIView):
    @extend_schema(
        operation_id="get_leaderboard_stats",
        summary="Totals of votes and models",
        description="Overall figures of a kind of arena.",
        parameters=[KIND],
        responses={200: answer(shapes.LeaderboardStatistics), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        return Response(selectors.statistics(kinds.named(request.query_params.get("kind"))))


class WorkerStatusView(APIView):
    @extend_schema(
        operation_id="get_worker_status",
        summary="When the boards were last written",
        description="What the hourly aggregation of all kinds did last. The wording of an error is for operators.",
        parameters=[OpenApiParameter("kind", str, description="Only its votes are waiting, or failed.")],
        responses={200: answer(shapes.WorkerState), **refusals(422)},
    )
    def get(self, request: Request) -> Response:
        name = request.query_params.get("kind")
        kind = kinds.get(name) if name else None
        return Response(selectors.worker(kind, with_errors=request.user.has_perm(SEE_WORKER)))


class AggregateView(APIView):
    permission_classes = [MayAggregate]
    throttle_classes = [Limited]
    throttle_scope = "aggregations"
    parser_classes = [SmallJSONParser]

    @extend_schema(
        operation_id="aggregate_votes",
        summary="Count new votes and write the boards now",
        description=(
            "Take the pending votes into the boards now (operators only). Boards are published once an hour: 409 with "
            "`next_at` where this hour's are. `force` publishes all the same; its `reason` goes to the audit log."
        ),
        request=body(force={"type": "boolean", "default": False}, reason={"type": "string", "default": ""}),
        responses={200: answer(shapes.Aggregated), 409: answer(shapes.NotDue), **refusals(400, 403, 413, 422, 429)},
    )
    def post(self, request: Request) -> Response:
        report = _forced(request) or aggregation.aggregate(once_an_hour=True)
        return Response({"status": "ok", **asdict(report)})


class ForceSerializer(Serializer[Any]):
    force = BooleanField(default=False)
    reason = CharField(default="", allow_blank=True)


def _forced(request: Request) -> aggregation.RunReport | None:
    """The report of a forced publication; None where the body asks for none."""
    if request.content_type.startswith("application/json"):
        wanted = ForceSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        if wanted.validated_data["force"]:
            return acts.publish_now(_by(request, wanted.validated_data["reason"]))
    return None


def _by(request: Request, reason: str) -> acts.By:
    try:
        return acts.By(cast(User, request.user), reason)
    except acts.NoReason as error:
        raise ValidationError({"reason": [str(error)]}) from error
