"""Addresses of WormArena's pages. Names of models hold any letter, so they are parameters and no part of a path."""

from __future__ import annotations

from django.urls import path

from wormarena.pages import board, games, live, model, pairs

urlpatterns = [
    path("wormarena/", board.board, name="worm-board"),
    path("wormarena/model", model.model, name="worm-model"),
    path("wormarena/pairs", pairs.pairs, name="worm-pairs"),
    path("wormarena/live", live.live, name="worm-live"),
    path("wormarena/games", games.recent, name="worm-games"),
    path("wormarena/games/<str:game_id>", games.replay, name="worm-game"),
]
