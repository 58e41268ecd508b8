"""The analytics of the admin, as a page and as JSON for a dashboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.views.decorators.http import require_safe
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena import kinds
from arena.api.schema import answer, refusals
from arena.errors import ArenaError
from vlaarena.monitoring.analytics import MOST_DAYS, Analytics, analytics
from vlaarena.monitoring.status_page import LOOK

DAYS = 30
SPANS = (7, 30, 90, 365)


class InvalidDays(ArenaError):
    status, code = 422, "invalid_days"
    detail = f"days is a whole number from 1 to {MOST_DAYS}."


class MayLook(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.has_perm(LOOK))


class AnalyticsView(APIView):
    permission_classes = [MayLook]

    @extend_schema(
        operation_id="get_analytics",
        summary="Votes, pairs, latency, failures and cost",
        description="What the admin's page of analytics shows, for a dashboard (staff only): votes a day, pairs, and "
        "of each model latency, failures and cost. Models are counted in past hours, in battles whose names are "
        "known.",
        parameters=[
            OpenApiParameter("kind", str, description="Default: the site's default kind."),
            OpenApiParameter("days", int, description=f"How many days back, at most {MOST_DAYS}.", default=DAYS),
        ],
        responses={200: answer(Analytics), **refusals(403, 422)},
    )
    def get(self, request: Request) -> Response:
        kind = kinds.named(request.query_params.get("kind"))
        return Response(analytics(kind, _days(request.query_params)), headers={"Cache-Control": "no-store"})


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """Unknown names in the address are those of the defaults."""
    if not request.user.has_perm(LOOK):
        raise PermissionDenied
    try:
        kind, days = kinds.named(request.GET.get("kind")), _days(request.GET)
    except ArenaError:
        kind, days = kinds.default(), DAYS
    found = analytics(kind, days)
    context = {
        **admin.site.each_context(request),
        "title": "Analytics",
        "found": found,
        "kind": kind,
        "kinds": [each for each in kinds.every() if each.offered or each is kind],
        "spans": SPANS,
        "days": reversed(found["by_day"]),
        "most": max(row["votes"] for row in found["by_day"]) or 1,
        "more": _columns(found),
        "models": _with_cells(found),
    }
    return TemplateResponse(request, "admin/analytics.html", context)


def _days(parameters: Mapping[str, str]) -> int:
    """Raises InvalidDays."""
    said = parameters.get("days") or str(DAYS)
    if not (said.isascii() and said.isdecimal() and len(said) < 5 and 1 <= int(said) <= MOST_DAYS):
        raise InvalidDays
    return int(said)


def _columns(found: Analytics) -> list[str]:
    """What the kind knows of its models, in its order."""
    return list(dict.fromkeys(name for row in found["models"] for name in row["more"]))


def _with_cells(found: Analytics) -> list[dict[str, Any]]:
    columns = _columns(found)
    return [
        {
            **row,
            "cells": [row["more"].get(name) for name in columns],
            "median_s": _seconds(row["median_ms"]),
            "p95_s": _seconds(row["p95_ms"]),
        }
        for row in found["models"]
    ]


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1e3
