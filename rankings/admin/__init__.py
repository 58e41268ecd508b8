"""The boards and the worker in the admin, read-only, with a button that publishes now."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_POST

from arena.admin import ReadOnly
from arena.blind_admin import ModelAdminBase
from rankings.admin import moderation
from rankings.api.permissions import AGGREGATE
from rankings.fit.standings import STATISTICS
from rankings.models import ModelStatsByRobot, ModelStatsTotal, WorkerStatus
from rankings.moderation import acts
from rankings.publication import aggregation

__all__ = ["moderation"]  # registers itself
FIGURES = [*STATISTICS, "updated_at"]
SORTABLE = [name for name in FIGURES if not name.startswith("elo_")]
"""Ratings compare only within a component, and these lists do not know the components."""


class BoardAdmin(ReadOnly, ModelAdminBase):
    list_select_related = ["model"]
    search_fields = ["model__id", "model__name"]


@admin.register(ModelStatsTotal)
class ModelStatsTotalAdmin(BoardAdmin):
    list_display = ["model", "model__kind", "organization", *FIGURES]
    list_filter = ["model__kind", "organization"]
    ordering = ["model"]
    sortable_by = ["model", "model__kind", "organization", *SORTABLE]


@admin.register(ModelStatsByRobot)
class ModelStatsByRobotAdmin(BoardAdmin):
    list_display = ["model", "model__kind", "robot_id", *FIGURES]
    list_filter = ["model__kind", "robot_id"]
    ordering = ["robot_id", "model"]
    sortable_by = ["model", "model__kind", "robot_id", *SORTABLE]


@admin.register(WorkerStatus)
class WorkerStatusAdmin(ReadOnly, ModelAdminBase):
    list_display = ["worker_name", "status", "last_run_at", "votes_processed", "error_message"]

    def get_urls(self) -> list[URLPattern]:
        run = path("run/", self.admin_site.admin_view(self.run), name="rankings_workerstatus_run")
        return [run, *super().get_urls()]

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {**(extra_context or {}), "may_run": request.user.has_perm(AGGREGATE)})

    @method_decorator(require_POST)
    def run(self, request: HttpRequest) -> HttpResponseRedirect:
        if not request.user.has_perm(AGGREGATE):
            raise PermissionDenied
        try:
            report = _run(request)
        except (aggregation.PublishedAlready, acts.NoReason) as refusal:
            self.message_user(request, str(refusal), messages.WARNING)
        except Exception as error:  # noqa: BLE001  any reason; it is in the worker's row too
            self.message_user(request, f"The aggregation failed: {error}", messages.ERROR)
        else:
            summary = (
                f"{report.votes_processed} votes processed, {report.votes_failed} failed, "
                f"{report.rows_changed} rows of the boards changed."
            )
            self.message_user(request, summary, messages.WARNING if report.votes_failed else messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:rankings_workerstatus_changelist"))


def _run(request: HttpRequest) -> aggregation.RunReport:
    if "force" not in request.POST:
        return aggregation.aggregate(once_an_hour=True)
    return acts.publish_now(acts.By(cast(User, request.user), request.POST.get("reason", "")))
