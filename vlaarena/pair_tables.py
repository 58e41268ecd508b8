"""Tables on the pages of the leaderboard: which pairs are settled, and what terms and ratings beside them are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from rankings.analysis import settled
from rankings.analysis.settled import BETTER, EQUAL, OPEN, WORSE, Settled
from rankings.analysis.terms import BEYOND, Adjusted
from rankings.tally.table import GLOBAL, Board

MARKS = {BETTER: ">", WORSE: "<", EQUAL: "="}
TERMS = {
    "side": gettext_lazy("Standing on the left"),
    "order": gettext_lazy("Ending first"),
    "length": gettext_lazy("Taking twice as long"),
    "success": gettext_lazy("Reaching the goal alone"),
}


def verdicts(
    content: Mapping[str, Any], robot: str, columns: Sequence[Mapping[str, str]], names: Mapping[str, str]
) -> dict[str, Any] | None:
    """In the order of the matrix, whose `columns` have a number each; None where a publication has none. `names`: of
    listed policies."""
    boards = content.get("settled", {})
    found = boards.get(Board(robot=robot).name) or boards.get(GLOBAL)
    if not found:
        return None
    own = settled.only(found, names)
    rows = [
        {
            **columns[one],
            "cells": [_cell(own, one, other, robot, names) for other in range(len(own["names"]))],
        }
        for one in range(len(own["names"]))
    ]
    told = {"settled": own["settled"], "pairs": own["pairs"], "alike": round(own["alike"])}
    return {**told, "error": round(100 * own["error"]), "rows": rows}


def terms(content: Mapping[str, Any], robot: str, names: Mapping[str, str]) -> dict[str, Any] | None:
    """None where a publication has none, or no vote has facts. Best plain rating first."""
    boards = content.get("terms", {})
    found = boards.get(Board(robot=robot).name) or boards.get(GLOBAL)
    if not found or not found["equal"]["votes"]:
        return None
    both = (found["equal"], found["beyond"])
    rows = [
        {
            "name": TERMS[name],
            "cells": [{"asked": name in board["terms"], "term": board["terms"].get(name)} for board in both],
        }
        for name in BEYOND
    ]
    models = sorted(found["equal"]["models"].items(), key=lambda entry: -entry[1]["plain"])
    return {
        "equal": both[0],
        "beyond": both[1],
        "rows": rows,
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


def _cell(own: Settled, one: int, other: int, robot: str, names: Mapping[str, str]) -> dict[str, Any]:
    a, b = own["names"][one], own["names"][other]
    verdict, to_go = own["verdicts"][one][other], own["votes_to_go"][one][other]
    asked = {"a": a, "b": b, **({"robot_id": robot} if robot else {})}
    return {
        "self": one == other,
        "verdict": verdict or "none",
        "mark": "–" if verdict is None else str(to_go or "∞") if verdict == OPEN else MARKS[verdict],
        "label": f"{names[a]} – {names[b]}: {_word(verdict, to_go)}",
        "address": f"{reverse('leaderboard-compare')}?{urlencode(asked)}",
    }


def _word(verdict: str | None, to_go: int | None) -> str:
    if verdict == OPEN:
        return (
            _("open, about %(votes)d more votes") % {"votes": to_go} if to_go else _("open, more than 1000 more votes")
        )
    words = {BETTER: _("better"), WORSE: _("worse"), EQUAL: _("as good as equal")}
    return words[verdict] if verdict else _("never compared")


def _with_half_width(row: Adjusted | None) -> dict[str, float] | None:
    return None if row is None else {"rating": row["rating"], "half_width": (row["high"] - row["low"]) / 2.0}
