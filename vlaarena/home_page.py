"""The home page: what the arena is, two robots that act, the latest battles, and current numbers."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max
from django.db.models.functions import Coalesce
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
RECOUNT_S = 300


def home(request: HttpRequest) -> HttpResponse:
    board = selectors.leaderboard(LeaderboardQuery())
    acted, latest = shown_battles()
    context: dict[str, Any] = {
        "page": "home",
        "acted": acted,
        "latest": latest,
        "votes": _vote_count(),
        "robots": Policy.objects.contestants().count(),
        "tasks": len(catalogue.offered_tasks()),
        "leaders": _leaders(board),
        "ranked": bool(board["rankings"]),
        "apart": len(board["metadata"]["components"]) > 1,
    }
    return render(request, "home.html", context)


def _vote_count() -> int:
    """Votes on battles that were not spoiled. Old ones are counted every RECOUNT_S seconds, newer ones each time.

    A battle that is spoiled counts until the next recount.
    """
    votes = Vote.objects.filter(battle__spoiled=False)
    if old := cache.get("home-votes"):
        return int(old["count"]) + votes.filter(pk__gt=old["last"]).count()
    old = votes.aggregate(count=Count("pk"), last=Coalesce(Max("pk"), 0))
    cache.set("home-votes", old, RECOUNT_S)
    return int(old["count"])


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
