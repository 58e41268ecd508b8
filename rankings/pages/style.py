"""Ratings controlled for length and style, of all votes or of those on one category or language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from arena.kinds import Kind
from rankings.analysis.style import LEAST_VOTES, WHOLE, ControlledBoard
from rankings.analysis.terms import Adjusted
from rankings.pages.base import asked_kind, board_page
from rankings.publication.published import Current, current


def style(request: HttpRequest) -> HttpResponse:
    now = current(asked_kind(request))
    found = _published(now)
    asked = request.GET.get("group", "")
    group = asked if asked in found else WHOLE
    return board_page(
        request,
        "style",
        now,
        group=group,
        dimensions=_dimensions(now.kind, found),
        controlled=shown(now, group),
        terms=_terms(now.kind, found.get(group)),
        least=LEAST_VOTES,
    )


def shown(now: Current, group: str = WHOLE) -> dict[str, Any] | None:
    """The rows of a group's table, best first once style is taken out. None where nothing is published of it."""
    board = _published(now).get(group)
    if not board:
        return None
    versions = (board["plain"], board["length"], board["style"])
    rows = [
        {"name": now.names[name], "cells": [_with_half_width(version["models"].get(name)) for version in versions]}
        for name in _best_first(board)
        if name in now.names
    ]
    return {"votes": board["plain"]["votes"], "rows": rows} if rows else None


def _published(now: Current) -> Mapping[str, ControlledBoard]:
    content: Mapping[str, Any] = now.published.content or {}
    found: Mapping[str, ControlledBoard] = content.get("controlled", {})
    return found


def _best_first(board: ControlledBoard) -> list[str]:
    models = board["style"]["models"]
    return sorted(models, key=lambda name: (-models[name]["rating"], name))


def _dimensions(kind: Kind, found: Mapping[str, ControlledBoard]) -> list[tuple[str, list[tuple[str, str, int]]]]:
    """What each dimension is called, and its groups: key, name and votes, those with most votes first."""
    dimensions = []
    for dimension, called in kind.groups.items():
        own = [
            (key, kind.title_of(dimension, key.partition("=")[2]), board["plain"]["votes"])
            for key, board in found.items()
            if key.startswith(f"{dimension}=")
        ]
        if own:
            dimensions.append((str(called), sorted(own, key=lambda each: (-each[2], each[1]))))
    return dimensions


def _terms(kind: Kind, board: ControlledBoard | None) -> list[tuple[str, list[dict[str, Any]]]]:
    """What each measure is called, with what it is worth by itself and beside all others."""
    if board is None:
        return []
    both = (board["length"]["terms"], board["style"]["terms"])
    return [
        (str(called), [{"asked": name in terms, "term": terms.get(name)} for terms in both])
        for name, called in kind.measures.items()
    ]


def _with_half_width(row: Adjusted | None) -> dict[str, float] | None:
    return None if row is None else {"rating": row["rating"], "half_width": (row["high"] - row["low"]) / 2.0}
