"""Headers of every response, beside those of Django's and django-csp's middleware."""

from __future__ import annotations

from collections.abc import Collection

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

# Browser features that no page uses. Fullscreen (replays) and the clipboard (shared addresses) are used.
REFUSED = (
    *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "geolocation", "gyroscope"),
    *("magnetometer", "microphone", "midi", "payment", "screen-wake-lock", "usb"),
    *("xr-spatial-tracking",),
)
HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Permitted-Cross-Domain-Policies": "none",
}


def permissions(allowed: Collection[str] = ()) -> str:
    """The Permissions-Policy of a page that may use the `allowed` features itself (`arena.kinds.Kind.features`)."""
    return ", ".join(f"{feature}=({'self' if feature in allowed else ''})" for feature in REFUSED)


class PageHeaders(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers.setdefault("Permissions-Policy", permissions(getattr(response, "allowed_features", ())))
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response
