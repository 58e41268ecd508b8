"""The page that compares two policies at a task: which is better, and with what probability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _

from arena import kinds
from arena.errors import UnknownName
from rankings.analysis.comparison import Comparison, PairEvidence
from rankings.analysis.success_rates import SuccessRow
from rankings.api.pair_queries import PairQuery, SameModel, called_in, evidence
from rankings.pages.base import asked_kind, board_page, kind_named, task_names
from rankings.pages.density import density
from rankings.publication.published import Current, current
from rankings.tally.table import GLOBAL


def compare(request: HttpRequest) -> HttpResponse:
    """The comparison in the address; of the best two where that names none, or an unknown name."""
    now = current(asked_kind(request))
    query, complaint = _asked(request.GET, now)
    tasks = task_names(now)
    return board_page(
        request,
        "compare",
        now,
        query=query,
        complaint=complaint,
        policies=sorted(now.names.items(), key=lambda entry: entry[1].casefold()),
        tasks=list(tasks.items()),
        **(_answer(evidence(now.published), query, now.names, tasks) if query.a and not complaint else {}),
    )


def address(query: PairQuery) -> str:
    called = called_in(vars(query))
    asked = {called.get(name, name): value for name, value in vars(query).items() if value}
    return f"{reverse('leaderboard-compare')}?{urlencode(asked)}"


def percent(share: float) -> str:
    """A whole percentage, which is never 0 or 100."""
    if share > 0.99:
        return "> 99 %"
    return "< 1 %" if share < 0.01 else f"{round(100 * share)} %"


def _asked(parameters: Mapping[str, str], now: Current) -> tuple[PairQuery, str]:
    """The query to answer, and a complaint where the address asks for something else."""
    query, best = PairQuery.of(parameters), _best(now)
    if not (query.a or query.b):
        query = replace(query, a=best.a, b=best.b)
    if len(now.names) < 2:
        return best, ""
    try:
        kinds.named(query.kind)
        query.check(now)
    except SameModel:
        return query, _("Choose two different models.")
    except UnknownName as error:
        return best, str(error)
    return query, ""


def _best(now: Current) -> PairQuery:
    """The two with the highest ratings of the largest component, or the first two names."""
    rows, names, kind = now.published.rows(GLOBAL), now.names, kind_named(now.kind)

    def place(name: str) -> tuple[float, float, str]:
        row = rows.get(name)
        return (row.get("component", 1), -row["rating"], "") if row else (math.inf, 0.0, names[name].casefold())

    order = sorted(names, key=place)
    a, b = order[:2] if len(order) > 1 else ("", "")
    return PairQuery(a, b, kind=kind)


def _answer(
    found: PairEvidence, query: PairQuery, names: Mapping[str, str], tasks: Mapping[str, str]
) -> dict[str, Any]:
    every = [
        _row(found, replace(query, task=task), name, query) for task, name in {"": _("All tasks"), **tasks}.items()
    ]
    rows = [row for number, row in enumerate(every) if number == 0 or row["shown"] or _tells(row)]
    shown: Comparison = next(row["found"] for row in rows if row["shown"])
    context = {
        "found": shown,
        "name_a": names[query.a],
        "name_b": names[query.b],
        "task_name": tasks[query.task] if query.task else "",
        "rows": rows,
        "offset": next((round(row["found"]["offset"]) for row in rows if row["found"]["offset"]), 0),
    }
    if shown["difference"] is not None and shown["low"] is not None and shown["high"] is not None:
        context["density"] = density(shown["difference"], shown["low"], shown["high"])
        context["points"] = {name: _points(shown[name]) for name in ("difference", "low", "high")}
        context |= {name: percent(shown[name] or 0.0) for name in ("chance", "share")}
    return context


def _row(found: PairEvidence, query: PairQuery, name: str, asked: PairQuery) -> dict[str, Any]:
    own = found.compare(query.a, query.b, task=query.task, setting=query.setting)
    return {
        "name": name,
        "shown": query == asked,
        "address": address(query),
        "found": own,
        "chance": "" if own["chance"] is None else percent(own["chance"]),
        **{name: _points(own[name]) for name in ("difference", "low", "high")},
        "even": own["record"]["ties"] + own["record"]["both_bad"],
        "physics": [_success(own["physics_a"]), _success(own["physics_b"])],
    }


def _tells(row: Mapping[str, Any]) -> bool:
    """Whether there is a vote between the two at the task, or a run of either."""
    return any(row["found"]["record"].values()) or any(row["physics"])


def _points(value: float | None) -> str:
    """A whole number with a proper minus sign."""
    return "" if value is None else f"{value:.0f}".replace("-", "−")


def _success(row: SuccessRow | None) -> dict[str, int] | None:
    """Whole percentages."""
    if row is None:
        return None
    return {"rate": round(100 * row["rate"]), "low": round(100 * row["low"]), "high": round(100 * row["high"])}
