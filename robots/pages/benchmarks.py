"""The page of published figures beside our measured ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from arena import kinds
from policies.models import ROBOTS, Policy
from rankings.pages.base import kind_named
from robots.benchmarks import tables
from robots.benchmarks.measured import Measured, measured
from robots.benchmarks.published import BRIDGE, LIBERO
from simulation import optional_rows


@dataclass(frozen=True)
class Table:
    """`id`: of its heading in the page."""

    id: str
    titles: Sequence[Any]
    rows: Sequence[tables.Row]


def benchmarks(request: HttpRequest) -> HttpResponse:
    kind, rows = kinds.named(ROBOTS), measured()
    context = {
        "page": "leaderboard",
        "tab": "benchmarks",
        "kind": kind,
        "has_tasks": bool(kind.tasks()),
        "of_kind": f"?kind={kind.id}" if kind_named(kind) else "",
        "bridge": _table(BRIDGE, rows),
        "libero": _table(LIBERO, rows),
        "libero_installed": optional_rows.is_installed(),
        "registered": set(Policy.objects.filter(pk__in={row.policy for row in rows}).values_list("pk", flat=True)),
        "days": sorted({row.day for row in rows}),
        "engines": sorted({row.engine for row in rows}),
    }
    return render(request, "robots/benchmarks.html", context)


def _table(benchmark: str, rows: Sequence[Measured]) -> Table:
    return Table(benchmark, tables.titles(benchmark), tables.rows(benchmark, rows))
