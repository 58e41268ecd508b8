"""Headers of every response, beside those of Django's and django-csp's middleware."""

from __future__ import annotations

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
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in REFUSED),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Permitted-Cross-Domain-Policies": "none",
}


class PageHeaders(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response
