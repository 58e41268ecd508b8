"""The addresses under /api/ of robots alone."""

from __future__ import annotations

from django.urls import path

from arena.api.routes import route
from robots import catalogue_api, episodes_api, forks_api, starts_api

urlpatterns = [
    *route("battles/<str:battle_id>/explorations", forks_api.Forks, "explorations"),
    *route("battles/<str:battle_id>/start", starts_api.Start, "battle-start"),
    *route("episodes/<str:episode_id>/view.bin", episodes_api.EpisodeView, "episode-view"),
    *route("episodes/<str:episode_id>/states.bin", episodes_api.EpisodeStates, "episode-states"),
    *route("episodes/<str:episode_id>/replay.bin", episodes_api.EpisodeReplay, "episode-replay"),
    *route("robots", catalogue_api.RobotList, "robots"),
    *route("scenes", catalogue_api.SceneList, "scenes"),
    *route("scenes/<slug:robot_id>/<slug:scene_id>/", catalogue_api.SceneBundle, "scene"),
    *route("tasks", catalogue_api.TaskList, "tasks"),
    path(
        "scenes/<slug:robot_id>/<slug:scene_id>/<str:scene_hash>/<str:name>",
        catalogue_api.SceneFile.as_view(),
        name="scene-file",
    ),
]
