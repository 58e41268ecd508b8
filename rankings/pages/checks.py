"""What speaks for the ranking and what against it: calibration, agreement with physics, integrity."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from rankings.analysis.terms import BEYOND, Adjusted
from rankings.pages import figures
from rankings.pages.base import asked_kind, board_page, task_names
from rankings.publication.integrity import ShadowRow
from rankings.publication.published import Current, current
from rankings.tally.table import GLOBAL, Board
from rankings.trust.influence import Handover

TERMS = {
    "side": gettext_lazy("Standing on the left"),
    "order": gettext_lazy("Ending first"),
    "length": gettext_lazy("Taking twice as long"),
    "success": gettext_lazy("Reaching the goal alone"),
}


def checks(request: HttpRequest) -> HttpResponse:
    now = current(asked_kind(request))
    robot = request.GET.get(now.kind.names.setting, "")
    context = _found(now, robot) if now.published.content else {}
    return board_page(request, "checks", now, robot=robot, **context)


def _found(now: Current, robot: str) -> dict[str, Any]:
    published, names = now.published, now.names
    content: Mapping[str, Any] = published.content or {}
    agreement, removal, shadow = content["agreement"], content["removal"], content["shadow"]
    tasks = task_names(now.kind)
    return {
        "calibration": content["calibration"],
        "marks": figures.calibration_marks(content["calibration"]["bins"]),
        "shares": figures.shares(),
        "overall": agreement["overall"],
        "by_task": [(tasks.get(key, key), each) for key, each in agreement["tasks"].items()],
        "by_policy": [(names[key], each) for key, each in agreement["policies"].items() if key in names],
        "removal": removal,
        "handovers": [_named(each, names) for each in removal["handovers"]],
        "shadow": shadow,
        "shadow_groups": _by_component(shadow["rows"], published.components(GLOBAL, names), names),
        "voters": content["voters"],
        "global_board": published.board(GLOBAL),
        "terms": _terms(content, robot, names),
    }


def _named(each: Handover, names: Mapping[str, str]) -> dict[str, Any]:
    return {**each, "upper": names.get(each["upper"], each["upper"]), "lower": names.get(each["lower"], each["lower"])}


def _by_component(
    rows: Mapping[str, ShadowRow], components: Mapping[str, int], names: Mapping[str, str]
) -> list[list[tuple[str, ShadowRow]]]:
    """The named rows of each component, best first."""
    known = sorted(
        (name for name in rows if name in components), key=lambda name: (components[name], -rows[name]["rating"])
    )
    return [
        [(names[name], rows[name]) for name in own] for _, own in itertools.groupby(known, key=components.__getitem__)
    ]


def _terms(content: Mapping[str, Any], robot: str, names: Mapping[str, str]) -> dict[str, Any] | None:
    """None where a publication has none, or no vote has facts. Best plain rating first."""
    boards = content.get("terms", {})
    found = boards.get(Board(setting=robot).name) or boards.get(GLOBAL)
    if not found or not found["equal"]["votes"]:
        return None
    both = (found["equal"], found["beyond"])
    models = sorted(found["equal"]["models"].items(), key=lambda entry: -entry[1]["plain"])
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
        "models": [
            {
                "name": names[key],
                "plain": own["plain"],
                "cells": [_with_half_width(board["models"].get(key)) for board in both],
            }
            for key, own in models
            if key in names
        ],
    }


def _with_half_width(row: Adjusted | None) -> dict[str, float] | None:
    return None if row is None else {"rating": row["rating"], "half_width": (row["high"] - row["low"]) / 2.0}
