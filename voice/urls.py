"""The addresses under /api/ of voice battles alone."""

from __future__ import annotations

from django.urls import path

from arena.api.routes import route
from voice import api

urlpatterns = [
    *route("battles/<str:battle_id>/calls", api.Calls, "calls"),
    *route("battles/<str:battle_id>/agent-metrics", api.AgentMetrics, "agent-metrics"),
    *(
        path(f"episodes/<str:episode_id>/{each.whose}-audio", each.as_view(), name=f"{each.whose}-recording")
        for each in api.RECORDINGS
    ),
]
