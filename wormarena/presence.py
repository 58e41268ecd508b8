"""Whether there are games, for the navigation of every page."""

from __future__ import annotations

from django.core.cache import cache
from django.http import HttpRequest

from wormarena.models import Game

KEY, FOR_S = "wormarena.has_games", 60


def has_games() -> bool:
    """Asks the database once a minute."""
    known: bool | None = cache.get(KEY)
    return note_games() if known is None else known


def note_games() -> bool:
    """Games may have come, or have gone."""
    found = Game.objects.exists()
    cache.set(KEY, found, FOR_S)
    return found


class _Asked:
    """True or false when a template asks: a page without the header costs no query."""

    def __bool__(self) -> bool:
        return has_games()


def context(request: HttpRequest) -> dict[str, object]:
    return {"wormarena": _Asked()}
