"""Addresses under /api/wormarena/."""

from __future__ import annotations

from arena.api.routes import route
from wormarena.api import views

urlpatterns = [
    *route("models", views.Models, "worm-models-api"),
    *route("decisions", views.Decisions, "worm-decisions-api"),
    *route("matchups", views.Matchups, "worm-matchups-api"),
    *route("games", views.Games, "worm-games-api"),
    *route("games/recent", views.RecentGames, "worm-recent-api"),
    *route("games/<str:game_id>", views.GameDetail, "worm-game-api"),
]
