"""Addresses of the leaderboard's pages."""

from __future__ import annotations

from django.urls import path

from rankings.pages import checks, compare, leaderboard, method, pairs, style, success_rates

urlpatterns = [
    path("leaderboard", leaderboard.leaderboard, name="leaderboard"),
    path("leaderboard/physics", success_rates.success_rates, name="leaderboard-success-rates"),
    path("leaderboard/style", style.style, name="leaderboard-style"),
    path("leaderboard/pairs", pairs.pairs, name="leaderboard-pairs"),
    path("leaderboard/compare", compare.compare, name="leaderboard-compare"),
    path("leaderboard/checks", checks.checks, name="leaderboard-trust"),
    path("leaderboard/method", method.method, name="leaderboard-method"),
    path("leaderboard/counts/<slug:input_hash>.csv.gz", method.counts_file, name="leaderboard-counts"),
]
