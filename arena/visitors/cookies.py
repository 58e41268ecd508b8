"""The cookie of an anonymous visitor: a signed UUID, which says who owns a session and nothing else."""

from __future__ import annotations

import uuid
from typing import Any

from django.core import signing
from django.http import HttpRequest, HttpResponseBase, parse_cookie

COOKIE = "arena_visitor"
SALT = "arena.visitor"
GRANTED = "token_visitor"
"""In a request or the scope of a socket: for whom a token lets it act."""
MAX_AGE_S = 365 * 24 * 3600


def new_visitor() -> str:
    return str(uuid.uuid4())


def grant(request: HttpRequest, visitor: str | None) -> None:
    """Let the request act for this visitor, or for none, whatever its cookie says."""
    request.token_visitor = visitor  # type: ignore[attr-defined]


def is_granted(request: HttpRequest) -> bool:
    """Whether the request acts for somebody by another proof than its cookie."""
    return hasattr(request, GRANTED)


def visitor_of(request: HttpRequest) -> str | None:
    """The visitor's id. None without a cookie, or with one that has no valid signature."""
    if is_granted(request):
        granted: str | None = getattr(request, GRANTED)
        return granted
    return _read(request.COOKIES.get(COOKIE, ""))


def visitor_of_scope(scope: Any) -> str | None:
    """The visitor's id from the ASGI scope of a websocket."""
    if GRANTED in scope:
        granted: str | None = scope[GRANTED]
        return granted
    for name, value in scope["headers"]:
        if name == b"cookie" and (found := _read(parse_cookie(value.decode("latin-1")).get(COOKIE, ""))):
            return found
    return None


def remember(response: HttpResponseBase, visitor: str, secure: bool) -> None:
    """Set the cookie. SameSite=Lax keeps it out of POST calls from other sites."""
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
