"""Addresses under /api/. A closing slash makes no difference to a call."""

from __future__ import annotations

from typing import Any

from django.urls import URLPattern, path

from arena.api import turns, views
from robots import catalogue_api, forks_api


def _route(address: str, view: Any, name: str) -> list[URLPattern]:
    """The address as documented, and the same with or without the closing slash (left out of the schema)."""
    other = address.removesuffix("/") if address.endswith("/") else f"{address}/"
    return [path(address, view.as_view(), name=name), path(other, view.as_view(schema=None))]


urlpatterns = [
    *_route("sessions/init", views.InitSession, "init-session"),
    *_route("sessions/", views.OwnSessions, "own-sessions"),
    *_route("sessions/user/<str:user_id>", views.SessionsOfUser, "sessions-of-user"),
    *_route("sessions/<str:session_id>", views.SessionDetail, "session"),
    *_route("sessions/<str:session_id>/battles", views.NextBattle, "next-battle"),
    *_route("battles", views.Battles, "battles"),
    *_route("battles/session/<str:session_id>", views.BattlesOfSession, "battles-of-session"),
    *_route("battles/<str:battle_id>", views.BattleDetail, "battle"),
    *_route("battles/<str:battle_id>/turns", views.Turns, "turns"),
    *_route("battles/<str:battle_id>/explorations", forks_api.Explorations, "explorations"),
    *_route("shared/<str:battle_id>", forks_api.SharedBattleDetail, "shared-battle"),
    *_route("turns/<str:turn_id>", views.TurnDetail, "turn"),
    *_route("turns/<str:turn_id>/queue", turns.TurnQueue, "turn-queue"),
    *_route("turns/<str:turn_id>/cancel", turns.CancelTurn, "cancel-turn"),
    *_route("episodes/<str:episode_id>", views.EpisodeDetail, "episode"),
    *_route("episodes/<str:episode_id>/view.bin", views.EpisodeView, "episode-view"),
    *_route("episodes/<str:episode_id>/states.bin", views.EpisodeStates, "episode-states"),
    *_route("episodes/<str:episode_id>/replay.bin", views.EpisodeReplay, "episode-replay"),
    *_route("votes", views.Votes, "votes"),
    *_route("robots", catalogue_api.Robots, "robots"),
    *_route("scenes", catalogue_api.Scenes, "scenes"),
    *_route("scenes/<slug:robot_id>/<slug:scene_id>/", catalogue_api.SceneBundle, "scene"),
    *_route("tasks", catalogue_api.Tasks, "tasks"),
    path(
        "scenes/<slug:robot_id>/<slug:scene_id>/<str:scene_hash>/<str:name>",
        catalogue_api.SceneFile.as_view(),
        name="scene-file",
    ),
]
