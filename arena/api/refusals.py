"""How the API answers where it refuses or fails: as `{"code", "detail", ...}`."""

from __future__ import annotations

import logging
from typing import Any

from django.core.exceptions import PermissionDenied as DjangoPermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from arena.errors import ArenaError, DatabaseUnavailable, EpisodesUnavailable, NotFound
from arena.store import StoreUnavailable

log = logging.getLogger(__name__)


@csrf_exempt
def nowhere(request: HttpRequest, address: str) -> JsonResponse:
    """The answer of any unknown address of the API, to any method."""
    return JsonResponse({"code": "not_found", "detail": "The API has no such address: see /api/docs/."}, status=404)


def handle_exception(error: Exception, context: dict[str, Any]) -> Response | None:
    """Every error of the API as `{"code", "detail", ...}`. None for a programming error, which becomes a 500."""
    if isinstance(error, StoreUnavailable):
        error = EpisodesUnavailable()
    elif isinstance(error, (OperationalError, InterfaceError)):
        log.error("The database is down or busy: %s", error)
        error = DatabaseUnavailable()
    elif isinstance(error, Http404):
        error = NotFound()
    elif isinstance(error, DjangoPermissionDenied):
        error = exceptions.PermissionDenied()
    headers = {}
    if isinstance(error, ArenaError):
        body, status = error.body(), error.status
        if retry_after_s := error.retry_after_s or (5 if status == 503 else None):  # what is down may soon be up
            headers["Retry-After"] = str(retry_after_s)
    elif isinstance(error, exceptions.ValidationError):
        body = {"code": "invalid", "detail": "Some fields are not what they should be.", "fields": error.detail}
        status = 422
    elif isinstance(error, exceptions.APIException):
        code = "malformed" if isinstance(error, exceptions.ParseError) else error.get_codes()
        body, status = {"code": code, "detail": str(error.detail)}, error.status_code
        if challenge := getattr(error, "auth_header", None):
            headers["WWW-Authenticate"] = challenge
    else:
        return None
    set_rollback()
    return Response(body, status=status, headers=headers)
