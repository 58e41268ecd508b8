"""Head to head: every model against every other."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from wormarena import selectors
from wormarena.models import Matchup
from wormarena.pages.base import address_of, worm_page

MOST = 24
"""Models in the table: those with the most games."""
SHADES = 10


def pairs(request: HttpRequest) -> HttpResponse:
    chosen = list(selectors.models("games").values_list("model_name", flat=True)[:MOST])
    names = [name for name in selectors.models().values_list("model_name", flat=True) if name in set(chosen)]
    rows = Matchup.objects.filter(model_name__in=names, opponent_name__in=names)
    met = {(row.model_name, row.opponent_name): row for row in rows}
    table = [
        {"name": name, "number": number, "address": address_of(name),
         "cells": [_cell(name, other, met.get((name, other))) for other in names]}
        for number, name in enumerate(names, 1)
    ]  # fmt: skip
    return worm_page(request, "pairs", table=table, left_out=selectors.models().count() - len(names))


def _cell(name: str, other: str, row: Matchup | None) -> dict[str, Any]:
    """`shade` is a place from 0 (all lost) to SHADES (all won), a tie counting half."""
    if row is None or name == other:
        return {"name": other, "row": row, "self": name == other}
    score = (row.wins + row.ties / 2) / row.games
    return {"name": other, "row": row, "self": False, "shade": round(SHADES * score), "percent": round(100 * score)}
