"""Addresses of the leaderboard's pages."""

from __future__ import annotations

from django.urls import path

from rankings.pages.checks import checks
from rankings.pages.compare import compare
from rankings.pages.leaderboard import leaderboard
from rankings.pages.method import counts_file, method
from rankings.pages.pairs import pairs
from rankings.pages.physics import physics

urlpatterns = [
    path("leaderboard", leaderboard, name="leaderboard"),
    path("leaderboard/physics", physics, name="leaderboard-physics"),
    path("leaderboard/pairs", pairs, name="leaderboard-pairs"),
    path("leaderboard/compare", compare, name="leaderboard-compare"),
    path("leaderboard/checks", checks, name="leaderboard-trust"),
    path("leaderboard/method", method, name="leaderboard-method"),
    path("leaderboard/counts/<slug:input_hash>.csv.gz", counts_file, name="leaderboard-counts"),
]
