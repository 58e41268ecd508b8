"""Limits on login attempts to the admin, per address and per account (RATE_LIMITS)."""

from __future__ import annotations

import unicodedata
from typing import cast

from django.contrib.admin import AdminSite
from django.contrib.auth.forms import UsernameField
from django.contrib.auth.models import User
from django.db.models import Field
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from arena.errors import TooMany
from arena.visitors.throttles import address_of, spend

_LONGEST = cast("Field[str, str]", User._meta.get_field(User.USERNAME_FIELD)).max_length
_FIELD = UsernameField(max_length=_LONGEST)
"""Cleans a typed name as the login form does: stripped, in Unicode's form NFKC."""


def count_attempt(request: HttpRequest, account: str) -> None:
    """Count an attempt before its password is checked. Raises TooMany."""
    spend("logins", {"address": address_of(request), "account": account_of(account)})


def account_of(typed: str) -> str:
    """One name for all spellings that may match one account.

    Case is ignored, since databases may compare names without it; at worst, `Alice` and `alice` are two accounts that
    share one limit. Text longer than any name matches no account and is truncated.
    """
    name = str(_FIELD.to_python(typed))
    return unicodedata.normalize("NFKC", name[:_LONGEST].casefold())


def too_many(request: HttpRequest, site: AdminSite, refusal: TooMany) -> HttpResponse:
    context = {**site.each_context(request), "title": "Too many attempts", "detail": str(refusal)}
    response = TemplateResponse(request, "admin/too_many.html", context, status=429)
    response["Retry-After"] = str(refusal.retry_after_s)
    return response
