"""How often somebody may try to get into the admin: per address, and per account from wherever (RATE_LIMITS)."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from arena.errors import TooMany
from arena.throttles import address_of, spend


def count_attempt(request: HttpRequest, account: str) -> None:
    """Count an attempt before it costs anything; raises TooMany."""
    spend("logins", {"address": address_of(request), "account": account[:150].casefold()})


def too_many(request: HttpRequest, site: AdminSite, refusal: TooMany) -> HttpResponse:
    context = {**site.each_context(request), "title": "Too many attempts", "detail": str(refusal)}
    response = TemplateResponse(request, "admin/too_many.html", context, status=429)
    response["Retry-After"] = str(refusal.wait)
    return response
