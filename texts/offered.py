"""For every page: whether the site offers text, so that its navigation leads there."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from texts.models import TEXT


def context(request: HttpRequest) -> dict[str, bool]:
    return {"offers_text": TEXT in settings.KINDS}
