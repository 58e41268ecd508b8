"""Addresses of websockets."""

from __future__ import annotations

from django.urls import path, re_path

from arena.live.consumers import BattleConsumer, UnknownAddress

websocket_urlpatterns = [path("ws/battles/<str:battle_id>/", BattleConsumer.as_asgi())]
everywhere_else = re_path("", UnknownAddress.as_asgi())
