"""Addresses under /api/. A closing slash makes no difference to a call."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path

from rankings.api import after_vote, compare, leaderboard, report


def _route(address: str, view: Any, name: str) -> list[URLPattern]:
    return [path(address, view.as_view(), name=name), path(f"{address}/", view.as_view(schema=None))]


urlpatterns = [
    *_route("leaderboard", leaderboard.LeaderboardView, "leaderboard-api"),
    *_route("leaderboard/stats", leaderboard.StatisticsView, "leaderboard-stats"),
    *_route("leaderboard/report", report.ReportView, "leaderboard-report"),
    *_route("leaderboard/compare", compare.CompareView, "leaderboard-compare-api"),
    *_route("battles/<str:battle_id>/effect", after_vote.VoteEffectView, "vote-effect"),
    *_route("worker/status", leaderboard.WorkerStatusView, "worker-status"),
    *_route("worker/aggregate", leaderboard.AggregateView, "worker-aggregate"),
]
