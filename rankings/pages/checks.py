"""Evidence for and against the ranking: calibration, agreement with physics, integrity."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from arena.shapes import JudgeAgreement
from rankings.analysis.term_boards import Terms
from rankings.analysis.terms import BEYOND, Adjusted
from rankings.pages import figures
from rankings.pages.base import asked_kind, board_page, task_names
from rankings.publication.published import Current, current
from rankings.tally.table import GLOBAL, Board
from rankings.trust.influence import Handover

TERMS = {
    "side": gettext_lazy("Being on the left"),
    "order": gettext_lazy("Finishing first"),
    "length": gettext_lazy("Taking twice as long"),
    "success": gettext_lazy("Being the only one to reach the goal"),
}


def checks(request: HttpRequest) -> HttpResponse:
    now = current(asked_kind(request))
    content: Mapping[str, Any] = now.published.content or {}
    setting = request.GET.get(now.kind.names.setting, "")
    board = Board(setting=setting)
    if board.name not in content.get("terms", {}):
        board = Board()
    return board_page(request, "checks", now, setting=board.setting, **(_found(now, content, board) if content else {}))


def _found(now: Current, content: Mapping[str, Any], board: Board) -> dict[str, Any]:
    """`board`: that of the ratings with all else equal; the other sections are about the global board."""
    published, names = now.published, now.names
    agreement, removal, shadow = content["agreement"], content["removal"], content["shadow"]
    tasks = task_names(now)
    return {
        "calibration": content["calibration"],
        "marks": figures.calibration_marks(content["calibration"]["bins"]),
        "shares": figures.shares(),
        "overall": agreement["overall"],
        "by_task": [(tasks.get(key, key), each) for key, each in agreement["tasks"].items()],
        "by_policy": [(names[key], each) for key, each in agreement["policies"].items() if key in names],
        "judge": _judge(content.get("judge")),
        "removal": removal,
        "handovers": [_named(each, names) for each in removal["handovers"]],
        "shadow": shadow,
        "shadow_groups": _by_component(shadow["rows"], "rating", published.components(GLOBAL, names), names),
        "voters": content["voters"],
        "global_board": published.board(GLOBAL),
        "terms": _terms(content.get("terms", {}).get(board.name), published.components(board.name, names), names),
    }


def _judge(found: JudgeAgreement | None) -> dict[str, Any] | None:
    """With whole percentages; None of kinds without a judge."""
    if found is None:
        return None
    shares = {f"{name}_percent": round(100 * (found[name] or 0.0)) for name in ("share", "low", "high")}
    return {**found, **shares}


def _named(each: Handover, names: Mapping[str, str]) -> dict[str, Any]:
    return {**each, "upper": names.get(each["upper"], each["upper"]), "lower": names.get(each["lower"], each["lower"])}


def _by_component(
    rows: Mapping[str, Any], rating: str, components: Mapping[str, int], names: Mapping[str, str]
) -> list[list[tuple[str, Any]]]:
    """(name, row) of each component by itself, best `rating` first."""
    known = sorted(
        (name for name in rows if name in components), key=lambda name: (components[name], -rows[name][rating])
    )
    return [
        [(names[name], rows[name]) for name in own] for _, own in itertools.groupby(known, key=components.__getitem__)
    ]


def _terms(found: Terms | None, components: Mapping[str, int], names: Mapping[str, str]) -> dict[str, Any] | None:
    """None where a publication has none, or no vote has facts. Best plain rating first."""
    if not found or not found["equal"]["votes"]:
        return None
    both = (found["equal"], found["beyond"])
    models = {
        key: {"plain": own["plain"], "cells": [_with_half_width(board["models"].get(key)) for board in both]}
        for key, own in found["equal"]["models"].items()
    }
    return {
        "equal": found["equal"],
        "beyond": found["beyond"],
        "rows": [
            {
                "name": TERMS[name],
                "cells": [{"asked": name in board["terms"], "term": board["terms"].get(name)} for board in both],
            }
            for name in BEYOND
        ],
        "unknown": any(value is None for board in both for value in board["terms"].values()),
        "groups": _by_component(models, "plain", components, names),
    }


def _with_half_width(row: Adjusted | None) -> dict[str, float] | None:
    return None if row is None else {"rating": row["rating"], "half_width": (row["high"] - row["low"]) / 2.0}
