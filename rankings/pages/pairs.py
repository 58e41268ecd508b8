"""Head to head: how the votes of each pair went, and which pairs are settled."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from rankings.analysis import settled
from rankings.analysis.settled import BETTER, EQUAL, OPEN, WORSE, Settled
from rankings.api.pair_queries import PairQuery
from rankings.pages import figures
from rankings.pages.base import asked_kind, board_page, kind_named
from rankings.pages.compare import address
from rankings.publication.published import Current, current
from rankings.tally.matrix import Matrix, only
from rankings.tally.table import Board

MARKS = {BETTER: ">", WORSE: "<", EQUAL: "="}
Column = Mapping[str, str]
"""A policy's `number` in the tables and its `name`."""


def pairs(request: HttpRequest) -> HttpResponse:
    now = current(asked_kind(request))
    setting = request.GET.get(now.kind.names.setting, "")
    board = Board(setting=setting if setting in now.kind.places() else "")
    content: Mapping[str, Any] = now.published.content or {}
    matrix = content.get("matrices", {}).get(board.name)
    context = _tables(only(matrix, now.names), content, now, board) if matrix else {}
    return board_page(request, "pairs", now, setting=board.setting, **context)


def _tables(matrix: Matrix, content: Mapping[str, Any], now: Current, board: Board) -> dict[str, Any]:
    names, query = now.names, PairQuery("", "", setting=board.setting, kind=kind_named(now.kind))
    columns = [
        {"number": number, "name": names[name]}
        for number, name in zip(_numbers(matrix["components"]), matrix["names"], strict=True)
    ]
    found = content.get("settled", {}).get(board.name)
    return {
        "apart": len(set(matrix["components"])) > 1,
        "columns": columns,
        "rows": _rates(matrix, columns),
        "settled": _verdicts(settled.only(found, names), query, columns, names) if found else None,
    }


def _numbers(components: Sequence[int]) -> list[str]:
    """1, 2, 3; and 1.1, 1.2, 2.1 for policies of several components: a place in one is none in another."""
    if len(set(components)) < 2:
        return [str(number) for number in range(1, len(components) + 1)]
    return [
        f"{component}.{number}" for component, own in itertools.groupby(components) for number, _ in enumerate(own, 1)
    ]


def _rows(columns: Sequence[Column], cell: Callable[[int, int], dict[str, Any]]) -> list[dict[str, Any]]:
    """`cell`: of the row's and the column's place."""
    places = range(len(columns))
    return [
        {**columns[one], "cells": [cell(one, other) | {"self": one == other} for other in places]} for one in places
    ]


def _rates(matrix: Matrix, columns: Sequence[Column]) -> list[dict[str, Any]]:
    most = max(itertools.chain.from_iterable(matrix["votes"]), default=0)

    def cell(one: int, other: int) -> dict[str, Any]:
        rate, votes = matrix["rates"][one][other], matrix["votes"][one][other]
        return {
            "rate": None if rate is None else round(100 * rate),
            "heat": figures.heat(rate),
            "votes": votes,
            "depth": round(10 * votes / most) if most else 0,
        }

    return _rows(columns, cell)


def _verdicts(own: Settled, query: PairQuery, columns: Sequence[Column], names: Mapping[str, str]) -> dict[str, Any]:
    """In the order of the matrix, whose `columns` have a number each."""
    return {
        "settled": own["settled"],
        "pairs": own["pairs"],
        "alike": round(own["alike"]),
        "error": round(100 * own["error"]),
        "rows": _rows(columns, lambda one, other: _verdict(own, one, other, query, names)),
    }


def _verdict(own: Settled, one: int, other: int, query: PairQuery, names: Mapping[str, str]) -> dict[str, Any]:
    a, b = own["names"][one], own["names"][other]
    verdict, to_go = own["verdicts"][one][other], own["votes_to_go"][one][other]
    return {
        "verdict": verdict or "none",
        "mark": "–" if verdict is None else str(to_go or "∞") if verdict == OPEN else MARKS[verdict],
        "label": f"{names[a]} – {names[b]}: {_word(verdict, to_go)}",
        "address": address(replace(query, a=a, b=b)),
    }


def _word(verdict: str | None, to_go: int | None) -> str:
    if verdict == OPEN:
        return (
            _("open, about %(votes)d more votes") % {"votes": to_go} if to_go else _("open, more than 1000 more votes")
        )
    words = {BETTER: _("better"), WORSE: _("worse"), EQUAL: _("practically equal")}
    return words[verdict] if verdict else _("never compared")
