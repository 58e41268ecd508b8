"""Whether there are games, for the navigation of every page, which asks the database for it now and then."""

from __future__ import annotations

from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpRequest

from wormarena.models import Game

KEY = "wormarena.has_games"
KEPT_S, ASKED_AGAIN_S = 3600, 30
"""Games rarely go away; the first one is to be noticed soon. A cache may be that of one process, so that what a worker
notes is not known everywhere."""


def note_games() -> None:
    """Games may have come or gone."""
    _remember(Game.objects.exists())


def has_games() -> bool:
    """False while the database is down: pages that say so have a navigation, too."""
    known: bool | None = cache.get(KEY)
    return _ask() if known is None else known


def _ask() -> bool:
    try:
        found = Game.objects.exists()
    except DatabaseError:
        found = False
    _remember(found)
    return found


def _remember(found: bool) -> None:
    cache.set(KEY, found, KEPT_S if found else ASKED_AGAIN_S)


class _Asked:
    """True or false when a template asks: a page without the header asks nothing."""

    def __bool__(self) -> bool:
        return has_games()


def context(request: HttpRequest) -> dict[str, object]:
    return {"wormarena": _Asked()}
