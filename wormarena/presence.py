"""Whether there are games, for the navigation of every page, which asks no database for it."""

from __future__ import annotations

from django.core.cache import cache
from django.http import HttpRequest

from wormarena.models import Game

KEY = "wormarena.has_games"


def note_games() -> None:
    """Games may have come or gone. The task that looks for files notes it, too, for a cache that was emptied."""
    cache.set(KEY, Game.objects.exists(), None)


class _Asked:
    """True or false when a template asks: a page without the header asks nothing."""

    def __bool__(self) -> bool:
        return bool(cache.get(KEY))


def context(request: HttpRequest) -> dict[str, object]:
    return {"wormarena": _Asked()}
