"""Whether this site offers voice battles, and if not, why: in one plain sentence."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.http import HttpRequest

from voice.models import VOICE
from voice.speech.installed import missing


@cache
def _lacking() -> tuple[str, ...]:
    """Looked for once in a process: what is installed later is found after a restart."""
    return tuple(missing())


def trouble() -> str:
    """Why a site that names voice in ARENA_KINDS cannot offer it; "" where nothing is in the way."""
    lacking = ", ".join(_lacking())
    return f"voice battles are off: {lacking} not installed; run `make install-voice`" if lacking else ""


def is_offered() -> bool:
    return VOICE in settings.KINDS and not trouble()


def context(request: HttpRequest) -> dict[str, bool]:
    """For every page: whether its navigation leads there."""
    return {"offers_voice": is_offered()}
