"""The ASGI application that daphne serves: pages and API over HTTP, battle events over websockets."""

from __future__ import annotations

import gc
import os

from channels.routing import ProtocolTypeRouter, URLRouter
from channels.sessions import CookieMiddleware
from django.urls import get_resolver

from vlaarena.handler import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")
http = get_asgi_application()  # sets Django up, so it must precede every import of models

from arena.live import release  # noqa: E402
from arena.routing import everywhere_else, websocket_urlpatterns  # noqa: E402
from people.token_access import TokenSockets  # noqa: E402
from vlaarena.body_limit import BodyLimit  # noqa: E402
from vlaarena.own_pages import OwnPagesOnly  # noqa: E402
from vlaarena.production import refuse_built_in_secret  # noqa: E402
from wormarena.live.routing import websocket_urlpatterns as worm_urlpatterns  # noqa: E402

refuse_built_in_secret()

application = ProtocolTypeRouter(
    {
        "http": BodyLimit(http),
        "websocket": OwnPagesOnly(
            TokenSockets(CookieMiddleware(URLRouter([*websocket_urlpatterns, *worm_urlpatterns, everywhere_else])))
        ),
    }
)

_ = get_resolver().url_patterns  # imports every view
release.longest_of_any()  # reads the tasks of robots, for which the first visitors would wait
gc.collect()
gc.freeze()  # exempts imported objects from collection, which took 8 % of the processor time of requests
