"""Whether this site offers voice battles, and if not, why: in one plain sentence."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from voice.models import VOICE
from voice.speech.installed import missing


def trouble() -> str:
    """Why a site that names voice in ARENA_KINDS cannot offer it; "" where nothing is in the way."""
    lacking = missing()
    return f"voice battles are off: {', '.join(lacking)} not installed; run `make install-voice`" if lacking else ""


def is_offered() -> bool:
    return VOICE in settings.KINDS and not trouble()


def context(request: HttpRequest) -> dict[str, bool]:
    """For every page: whether its navigation leads there."""
    return {"offers_voice": is_offered()}
