"""The leaderboard of models that play Snake."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext_lazy

from arena.errors import UnknownName
from wormarena import selectors
from wormarena.models import ModelAggregate
from wormarena.pages.base import DEATHS, OTHER_DEATH, address_of, dollars, percent, worm_page
from wormarena.pages.charts import intervals, shares

COLUMNS = {
    "strength": gettext_lazy("Strength"),
    "trueskill": gettext_lazy("TrueSkill"),
    "winRate": gettext_lazy("Win rate"),
    "score": gettext_lazy("Apples per game"),
    "costPerPoint": gettext_lazy("Cost per apple"),
    "games": gettext_lazy("Games"),
}


def board(request: HttpRequest) -> HttpResponse:
    sort, search = request.GET.get("sort") or "strength", request.GET.get("search", "").replace("\0", "")[:200]
    try:
        rows = list(selectors.models(sort, search))
    except UnknownName:
        return redirect("worm-board")
    return worm_page(
        request,
        "board",
        rows=_shown(rows),
        sort=sort,
        search=search,
        columns=COLUMNS.items(),
        apart=len({row.component for row in rows if row.component}) > 1,
        key=shares([(reason, text, 1) for reason, text in _deaths_named()]),
    )


def _shown(rows: list[ModelAggregate]) -> list[dict[str, Any]]:
    rated = [row for row in rows if row.strength is not None]
    marks = intervals([(row.strength or 0.0, row.strength_low, row.strength_high) for row in rated])
    bars = dict(zip((row.model_name for row in rated), marks, strict=True))
    ranks = _ranks(rows)
    return [
        {
            "row": row,
            "rank": ranks.get(row.model_name),
            "address": address_of(row.model_name),
            "bar": bars.get(row.model_name),
            "half_width": _half_width(row),
            "win_rate": percent(row.win_rate),
            "cost_per_point": dollars(row.avg_cost_per_point),
            "cost_per_game": dollars(row.avg_cost_per_game),
            "deaths": deaths_of(row),
        }
        for row in rows
    ]


def _ranks(rows: list[ModelAggregate]) -> dict[str, int]:
    """By strength, among the models that can be compared."""
    ranks, counted = dict[str, int](), Counter[int]()
    for row in sorted(rows, key=lambda row: -(row.strength or 0.0)):
        if row.component:
            counted[row.component] += 1
            ranks[row.model_name] = counted[row.component]
    return ranks


def deaths_of(row: ModelAggregate) -> list[dict[str, Any]]:
    numbers = (row.death_wall, row.death_head_collision, row.death_body_collision, row.death_other)
    named = _deaths_named()
    parts = [(name, text, number) for (name, text), number in zip(named, numbers, strict=True)]
    return shares([part for part in parts if part[2]])


def _deaths_named() -> list[tuple[str, Any]]:
    return [*DEATHS.items(), ("other", OTHER_DEATH)]


def _half_width(row: ModelAggregate) -> int | None:
    if row.strength_low is None or row.strength_high is None:
        return None
    return round((row.strength_high - row.strength_low) / 2)
