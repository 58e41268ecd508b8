"""How an HTTP request is answered under ASGI: all of it in one thread.

Every view and some of the middleware is synchronous. Django's own handler would change between event loop and thread at
each middleware, which costs more than most of our views; this one changes once on the way in and once on the way out.
"""

from __future__ import annotations

from typing import Any

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneThreadHandler(ASGIHandler):
    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        answer: Any = sync_to_async(self.get_response, thread_sensitive=True)
        response: HttpResponseBase = await answer(request)
        return response


def get_asgi_application() -> OneThreadHandler:
    """Set Django up; answer the application for HTTP."""
    django.setup(set_prefix=False)
    return OneThreadHandler()
