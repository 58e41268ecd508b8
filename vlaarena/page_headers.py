"""Headers that every answer of the site carries, beside those of Django's and django-csp's own middleware."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

# What a page of ours never asks a browser for. The replay may fill the screen, a shared address may be copied.
REFUSED = (
    *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "geolocation", "gyroscope"),
    *("magnetometer", "microphone", "midi", "payment", "publickey-credentials-get", "screen-wake-lock", "usb"),
    *("xr-spatial-tracking",),
)
HEADERS = {
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in REFUSED),
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Permitted-Cross-Domain-Policies": "none",
}


class PageHeaders:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response
