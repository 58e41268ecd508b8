"""Where websockets go."""

from __future__ import annotations

from django.urls import path

from arena.consumers import BattleConsumer

websocket_urlpatterns = [path("ws/battles/<str:battle_id>/", BattleConsumer.as_asgi())]
