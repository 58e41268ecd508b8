"""Sets or deletes the visitor's cookie once a login, a logout or a deletion has changed who the caller is."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from arena.visitors import cookies

UNCHANGED = object()


class VisitorOfAccount(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        visitor = getattr(request, "new_visitor", UNCHANGED)
        if isinstance(visitor, str):
            cookies.remember(response, visitor, secure=request.is_secure())
        elif visitor is None:
            response.delete_cookie(cookies.COOKIE, samesite="Lax")
        return response
