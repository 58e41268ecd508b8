"""The home page: what the arena is, two robots that act, the latest battles, and current numbers."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from arena.models import ContestantStatus, Vote
from policies.models import Policy
from rankings.api import selectors
from rankings.api.selectors import LeaderboardQuery
from rankings.api.shapes import Leaderboard, RankingRow
from simulation import catalogue
from vlaarena.shown_battles import shown_battles

LEADERS = 3


def home(request: HttpRequest) -> HttpResponse:
    board = selectors.leaderboard(LeaderboardQuery())
    acted, latest = shown_battles()
    context: dict[str, Any] = {
        "page": "home",
        "acted": acted,
        "latest": latest,
        "votes": Vote.objects.filter(battle__spoiled=False).count(),
        "robots": Policy.objects.contestants().count(),
        "tasks": len(catalogue.offered_tasks()),
        "leaders": _leaders(board),
        "ranked": bool(board["rankings"]),
        "apart": len(board["metadata"]["components"]) > 1,
    }
    return render(request, "home.html", context)


def _leaders(board: Leaderboard) -> list[RankingRow]:
    """The best of the component with the most votes. Ratings of other components cannot be compared with theirs.

    Nobody is listed without a vote, or who cannot play now.
    """
    if not board["rankings"]:
        rows = board["provisional"]
    else:
        first = board["rankings"][0]["component"]
        rows = [row for row in board["rankings"] if row["component"] == first]
    return [row for row in rows if row["vote_count"] and row["status"] == ContestantStatus.ACTIVE][:LEADERS]
