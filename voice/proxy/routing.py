"""The address of the sockets of calls."""

from __future__ import annotations

from channels.routing import URLRouter
from django.urls import path

from voice.battles.sockets import PATH
from voice.proxy.consumer import CallConsumer

sockets = URLRouter([path(f"{PATH.lstrip('/')}<str:ticket>", CallConsumer.as_asgi())])
