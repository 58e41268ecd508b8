"""Games while they are played. The page asks its socket; the server renders none of them."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from wormarena.pages.base import worm_page


def live(request: HttpRequest) -> HttpResponse:
    return worm_page(request, "live")
