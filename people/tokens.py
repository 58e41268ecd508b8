"""API tokens: making, revoking and recognising them, and what a call with one may do."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils import timezone

from arena.errors import ArenaError
from people.models import Account, Token

READ, PLAY, STUDIES, STAFF = "read", "play", "studies", "staff"
SCOPES = (READ, PLAY, STUDIES, STAFF)
FOR_VISITORS = (READ, PLAY, STUDIES)
STUDIES_API = "/api/studies"
BEGINNING, HINT_LENGTH = "arena_", 10
MOST = 20
"""Tokens of a user that are not revoked."""
NOTED_EVERY = timedelta(minutes=1)
"""How precisely the last use is kept."""
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class TokenInvalid(ArenaError):
    status, code = 401, "token_invalid"
    detail = "The token is unknown, was revoked, or its account is closed."


class ScopeMissing(ArenaError):
    status, code = 403, "scope_missing"

    def __init__(self, needed: str) -> None:
        super().__init__(f"The token lacks a scope. Needed: {needed}.", needed=needed)


class TooManyTokens(ArenaError):
    status, code = 409, "too_many_tokens"
    detail = f"An account has at most {MOST} tokens. Revoke one first."


@dataclass(frozen=True)
class Access:
    """Whom a call acts for. `visitor`: whose sessions and votes, None for nobody's. `user`: whose rights of staff."""

    visitor: str | None
    user: User | None


def issue(user: User, name: str, scopes: Collection[str]) -> tuple[Token, str]:
    """A new token and its text, which nobody can read again. Raises TooManyTokens, and ValueError for other scopes."""
    if not scopes or not set(scopes) <= set(SCOPES):
        raise ValueError(f"expected some of {', '.join(SCOPES)}, got {', '.join(scopes) or 'none'}")
    if live(user).count() >= MOST:
        raise TooManyTokens
    text = BEGINNING + secrets.token_urlsafe(32)
    kept = [scope for scope in SCOPES if scope in scopes]
    row = Token.objects.create(user=user, name=name, digest=_digest(text), hint=text[:HINT_LENGTH], scopes=kept)
    return row, text


def live(user: User) -> QuerySet[Token]:
    """The user's tokens that are not revoked, newest first."""
    return Token.objects.filter(user=user, revoked_at=None)


def revoke(token: Token) -> None:
    if token.revoked_at is None:
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])


def access_by(text: str, method: str, path: str = "") -> Access:
    """What a call of this HTTP method and path may do with the token. Raises TokenInvalid and ScopeMissing.

    `read` reads what the owner may see, `play` does that and acts as the owner in battles, `studies` asks for studies
    and reads them, and `staff` has the rights of staff that the owner has.
    """
    token = Token.objects.select_related("user").filter(digest=_digest(text), revoked_at=None).first()
    if token is None or not token.user.is_active:
        raise TokenInvalid
    _note_use(token)
    wanted = _wanted(method, path)
    account = Account.objects.filter(user=token.user).first()
    visitor = account.visitor if account and set(wanted) & set(token.scopes) else None
    user = token.user if STAFF in token.scopes and token.user.is_staff else None
    if visitor is None and user is None:
        raise ScopeMissing(wanted[0])
    return Access(visitor, user)


def _wanted(method: str, path: str) -> tuple[str, ...]:
    """The scopes of which one allows it."""
    own = STUDIES if path == STUDIES_API or path.startswith(f"{STUDIES_API}/") else PLAY
    if method in SAFE_METHODS:
        return (READ, PLAY, STUDIES) if own == STUDIES else (READ, PLAY)
    return (own,)


def _note_use(token: Token) -> None:
    now = timezone.now()
    if token.last_used_at is None or token.last_used_at < now - NOTED_EVERY:
        Token.objects.filter(pk=token.pk).update(last_used_at=now)


def _digest(text: str) -> str:
    """Of 256 random bits: there is nothing to guess, so it needs no salt and no slow hash."""
    return hashlib.sha256(text.encode()).hexdigest()
