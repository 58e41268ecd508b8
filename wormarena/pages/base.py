"""What the pages of WormArena share."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from wormarena.ingestion.rows import NO_TIME

DEATHS: dict[str, str | Promise] = {
    "wall": gettext_lazy("Hit a wall"),
    "head_collision": gettext_lazy("Hit the other head"),
    "body_collision": gettext_lazy("Hit a body"),
}
OTHER_DEATH = gettext_lazy("Died otherwise")
RESULTS = {"won": gettext_lazy("won"), "lost": gettext_lazy("lost"), "tied": gettext_lazy("tied")}


def worm_page(request: HttpRequest, tab: str, **context: Any) -> HttpResponse:
    """`tab`: the template's name, which marks the current page in the navigation."""
    return render(request, f"wormarena/{tab}.html", {"page": "wormarena", "tab": tab, **context})


def address_of(name: str) -> str:
    """Of a model's page."""
    return f"{reverse('worm-model')}?{urlencode({'name': name})}"


def dollars(cost: float | None) -> str:
    """With as many digits as small amounts need."""
    if cost is None:
        return "–"
    if cost == 0:
        return "$0"
    return f"${cost:.2f}" if cost >= 1 else f"${cost:.2g}" if cost >= 0.0001 else f"${cost:.1e}"


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def played(moment: datetime) -> datetime | None:
    """When a game was played, None where its file does not say."""
    return None if moment == NO_TIME else moment
