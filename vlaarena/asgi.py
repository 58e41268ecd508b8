"""The site as daphne serves it: pages and API over HTTP, events of battles over websockets."""

from __future__ import annotations

import os
from importlib.util import find_spec

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.security.websocket import AllowedHostsOriginValidator
from channels.sessions import CookieMiddleware
from django.core.asgi import get_asgi_application
from django.urls import URLPattern

from vlaarena.secret import refuse_built_in_secret

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
http = get_asgi_application()  # sets Django up, so it comes before anything that imports models

refuse_built_in_secret()

websocket_urlpatterns: list[URLPattern] = []
if find_spec("arena.routing"):
    from arena.routing import websocket_urlpatterns  # type: ignore[import-not-found,no-redef]

application = ProtocolTypeRouter(
    {
        "http": http,
        "websocket": AllowedHostsOriginValidator(CookieMiddleware(URLRouter(websocket_urlpatterns))),
    }
)
