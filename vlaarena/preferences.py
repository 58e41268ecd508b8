"""A visitor's preferences for every page: language, theme and shortcuts, in cookies without an identity."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.urls import reverse
from django.utils import translation
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from django.views.i18n import JavaScriptCatalog

THEMES = ("system", "light", "dark")
THEME_COOKIE = "theme"
SHORTCUTS = ("on", "off")
SHORTCUTS_COOKIE = "shortcuts"
A_YEAR_S = 365 * 24 * 3600


def context(request: HttpRequest) -> dict[str, Any]:
    """Context of every template: languages, theme, whether keys are shortcuts, and the address of the strings for
    scripts ("" in English)."""
    language = translation.get_language() or settings.LANGUAGE_CODE
    theme = request.COOKIES.get(THEME_COOKIE, "system")
    return {
        "language": language,
        "languages": settings.LANGUAGES,
        "shortcuts": "off" if request.COOKIES.get(SHORTCUTS_COOKIE) == "off" else "on",
        "theme": theme if theme in THEMES else "system",
        "strings_url": "" if language == "en" else reverse("strings", args=[language, strings_version(language)]),
    }


@csrf_exempt  # pages are cached without a token, and a forged request could only change language or theme
@require_POST
def save(request: HttpRequest) -> HttpResponse:
    """Save `language`, `theme` or `shortcuts`, and redirect to the page that sent the form."""
    response = HttpResponseRedirect(_back(request))
    for name, (cookie, known) in _choices().items():
        value = request.POST.get(name)
        if value and value not in known:
            accepted = "; ".join(f"{name}: {', '.join(known)}" for name, (_, known) in _choices().items())
            return HttpResponseBadRequest(accepted, "text/plain")
        if value:
            response.set_cookie(cookie, value, max_age=A_YEAR_S, samesite="Lax", secure=request.is_secure())
    return response


def _choices() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Field of the form -> its cookie and the values it may have."""
    languages = tuple(code for code, _ in settings.LANGUAGES)
    return {
        "language": (settings.LANGUAGE_COOKIE_NAME, languages),
        "theme": (THEME_COOKIE, THEMES),
        "shortcuts": (SHORTCUTS_COOKIE, SHORTCUTS),
    }


class Strings(JavaScriptCatalog):
    """The strings of scripts in one language, at an address with a digest of their content."""

    packages = ["vlaarena"]

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        language, version = kwargs["language"], kwargs["version"]
        if language not in dict(settings.LANGUAGES):
            return HttpResponse(status=404)
        with translation.override(language):
            response: HttpResponse = super().get(request, *args, **kwargs)
        current = version == strings_version(language)
        response["Cache-Control"] = "public, max-age=31536000, immutable" if current else "no-store"
        return response


@cache
def strings_version(language: str) -> str:
    path = Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / "djangojs.mo"
    return hashlib.sha256(path.read_bytes() if path.exists() else b"").hexdigest()[:12]


def _back(request: HttpRequest) -> str:
    wanted = request.POST.get("next", "/")
    safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if safe and wanted.startswith("/") else "/"
