"""Anonymous visitors: a UUID in a signed, http-only cookie. It says who owns a session and nothing else."""

from __future__ import annotations

import uuid
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponseBase, parse_cookie

COOKIE = "arena_visitor"
SALT = "arena.visitor"
MAX_AGE_S = 365 * 24 * 3600


def new_visitor() -> str:
    return str(uuid.uuid4())


def visitor_of(request: HttpRequest) -> str | None:
    """The visitor's id, or None without a cookie or with one that we did not sign."""
    return _read(request.COOKIES.get(COOKIE, ""))


def visitor_of_scope(scope: Any) -> str | None:
    """The same for a websocket's ASGI scope."""
    for name, value in scope["headers"]:
        if name == b"cookie" and (found := _read(parse_cookie(value.decode("latin-1")).get(COOKIE, ""))):
            return found
    return None


def remember(response: HttpResponseBase, visitor: str, secure: bool) -> None:
    """Send the cookie. SameSite=Lax keeps it out of calls that other sites make with POST."""
    response.set_cookie(
        COOKIE,
        signing.dumps(visitor, salt=SALT, compress=False),
        max_age=MAX_AGE_S,
        httponly=True,
        samesite="Lax",
        secure=secure,
    )


def _read(cookie: str) -> str | None:
    try:
        visitor = signing.loads(cookie, salt=SALT, max_age=MAX_AGE_S)
        return str(uuid.UUID(visitor))
    except (signing.BadSignature, ValueError, TypeError, AttributeError):
        return None
