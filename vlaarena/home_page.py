"""The home page: what the arena is, with current numbers."""

from __future__ import annotations

from typing import Any

from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from arena.models import Battle, BattleStatus, Turn, Vote
from policies.models import Policy
from rankings.api import selectors
from rankings.api.selectors import LeaderboardQuery
from rankings.api.shapes import Leaderboard, RankingRow
from simulation import catalogue

LEADERS = 3


def home(request: HttpRequest) -> HttpResponse:
    board = selectors.leaderboard(LeaderboardQuery())
    context: dict[str, Any] = {
        "page": "home",
        "votes": Vote.objects.filter(battle__spoiled=False).count(),
        "battles": Battle.objects.filter(status=BattleStatus.VOTED, spoiled=False).count(),
        "robots": Policy.objects.contestants().count(),
        "tasks": len(catalogue.tasks()),
        "leaders": _leaders(board),
        "ranked": bool(board["rankings"]),
        "apart": len(board["metadata"]["components"]) > 1,
        "latest": _latest(),
    }
    return render(request, "home.html", context)


def _leaders(board: Leaderboard) -> list[RankingRow]:
    """The best of the component with the most votes. Ratings of other components cannot be compared with theirs."""
    if not board["rankings"]:
        return board["provisional"][:LEADERS]
    first = board["rankings"][0]["component"]
    return [row for row in board["rankings"] if row["component"] == first][:LEADERS]


def _latest() -> Vote | None:
    """The newest vote. Anybody may watch its battle."""
    turns = Prefetch("battle__turns", Turn.objects.judged().order_by("seq"))
    return (
        Vote.objects.filter(battle__spoiled=False)
        .select_related("left_model", "right_model", "battle")
        .prefetch_related(turns)
        .order_by("-voted_at", "-id")
        .first()
    )
