"""The address of WormArena's socket."""

from __future__ import annotations

from django.urls import path

from wormarena.live.consumers import LiveConsumer

websocket_urlpatterns = [path("ws/wormarena/", LiveConsumer.as_asgi())]
