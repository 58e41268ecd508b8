"""Permissions of the rankings; vlaarena/roles.py gives them to roles."""

from __future__ import annotations

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

MODERATE = "rankings.moderate_votes"
AGGREGATE = "rankings.run_aggregation"
SEE_WORKER = "rankings.view_workerstatus"


class MayAggregate(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.has_perm(AGGREGATE))
