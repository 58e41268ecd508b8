"""Success rates and progress of each policy in the recorded episodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse

from rankings.analysis.success_rates import LEAST_EPISODES, SuccessRow
from rankings.pages.base import asked_kind, board_page, task_names
from rankings.publication.published import current

SHARES = ("rate", "low", "high", "progress", "progress_low", "progress_high")


def success_rates(request: HttpRequest) -> HttpResponse:
    """All tasks together, or one."""
    now = current(asked_kind(request))
    content: Mapping[str, Any] = now.published.content or {}
    boards = content.get("physics", {})
    asked = request.GET.get("task", "")
    chosen = asked if asked in boards else "all"
    tasks = task_names(now)
    return board_page(
        request,
        "success_rates",
        now,
        task=chosen,
        tasks=[(key, tasks.get(key, key)) for key in boards if key != "all"],
        rows=[_measured(row, now.names, tasks) for row in boards.get(chosen, []) if row["model_id"] in now.names],
        mean_of=[tasks.get(key, key) for key in content.get("physics_mean_of", [])] if chosen == "all" else [],
        least=LEAST_EPISODES,
    )


def _measured(row: SuccessRow, names: Mapping[str, str], tasks: Mapping[str, str]) -> dict[str, Any]:
    """Shares as whole percentages; tasks by name. Rows of an earlier release name no tasks."""
    percent = {key: round(100 * value) for key, value in row.items() if key in SHARES and isinstance(value, float)}
    few = [tasks.get(key, key) for key in row.get("few_of", [])]
    return {**row, "name": names[row["model_id"]], "percent": percent, "few_of": few}
