"""Addresses under /api/. A closing slash makes no difference to a call."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path

from rankings import after_vote, api, compare_api, report_api


def _route(address: str, view: Any, name: str) -> list[URLPattern]:
    return [path(address, view.as_view(), name=name), path(f"{address}/", view.as_view(schema=None))]


urlpatterns = [
    *_route("leaderboard", api.LeaderboardView, "leaderboard-api"),
    *_route("leaderboard/stats", api.StatisticsView, "leaderboard-stats"),
    *_route("leaderboard/report", report_api.ReportView, "leaderboard-report"),
    *_route("leaderboard/compare", compare_api.CompareView, "leaderboard-compare-api"),
    *_route("battles/<str:battle_id>/effect", after_vote.VoteEffectView, "vote-effect"),
    *_route("worker/status", api.WorkerStatusView, "worker-status"),
    *_route("worker/aggregate", api.AggregateView, "worker-aggregate"),
]
