"""Permissions: visitors act on their own battles only, and staff may look at all. Any other battle is NotFound."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from rest_framework.authentication import SessionAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from arena.errors import BattleHidden, CrossSite, NotFound
from arena.models import Battle, Compiled, Session
from arena.visitors import origins
from arena.visitors.cookies import is_granted, visitor_of

LOOK = "arena.view_battle"
_session = Compiled(lambda session_id: Session.objects.filter(session_id=session_id).order_by())
_battle = Compiled(lambda battle_id: Battle.objects.select_related("session").filter(battle_id=battle_id).order_by())


def may_act(visitor: str | None, session: Session) -> bool:
    return visitor is not None and session.user_id == visitor


def may_look(visitor: str | None, user: User | AnonymousUser | None, session: Session) -> bool:
    """Whether it is the visitor's own session, or `user` is staff, whose view is as blind as the visitor's."""
    return may_act(visitor, session) or (user is not None and user.has_perm(LOOK))


def own_session(request: HttpRequest | Request, session_id: str) -> Session:
    """The visitor's own session, to act on. Raises NotFound for any other id."""
    return check_may_act(request, _session.first(session_id))


def own_battle(request: HttpRequest | Request, battle_id: str) -> Battle:
    """The visitor's own battle, to act on. Raises NotFound for any other id."""
    battle = _battle.first(battle_id)
    if battle is None:
        raise NotFound
    check_may_act(request, battle.session)
    return battle


def check_may_act(request: HttpRequest | Request, session: Session | None) -> Session:
    """The session, if it is the visitor's own. Raises NotFound."""
    if session is None or not may_act(_visitor(request), session):
        raise NotFound
    return session


def check_may_look(request: HttpRequest | Request, session: Session | None) -> Session:
    """The session, if this caller may see it. Raises NotFound."""
    if session is None or not may_look(_visitor(request), request.user, session):
        raise NotFound
    return session


def check_public(request: HttpRequest | Request, battle: Battle) -> None:
    """Raises BattleHidden if a moderator hid the battle from this caller. Its visitor and staff still see it."""
    if battle.hidden_at is not None and not may_look(_visitor(request), request.user, battle.session):
        raise BattleHidden


def _visitor(request: HttpRequest | Request) -> str | None:
    return visitor_of(request._request if isinstance(request, Request) else request)


class SameSite(BasePermission):
    """Refuses a call that changes something when a browser sends it for a page of another site.

    Two other defences are the cookie's SameSite=Lax and the JSON bodies. A client that is no browser sends none of
    these headers and passes: it has no cookie that another site could misuse. Nor does a page of another site have a
    token.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.method in SAFE_METHODS or is_granted(request._request):
            return True
        source = request.headers.get("Origin") or request.headers.get("Referer")
        if request.headers.get("Sec-Fetch-Site") == "cross-site" or not (
            source is None or origins.is_own(source, secure=request.is_secure(), host=request.get_host())
        ):
            raise CrossSite
        return True


class VisitorSession(SessionAuthentication):
    """Django's login without its CSRF token: `SameSite` protects these calls."""

    def enforce_csrf(self, request: Request) -> None:
        return
