"""The pages of all robot policies, and of one with its record, its battles and its success by task."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from arena.models import ContestantStatus
from policies.measured import UNSHIFTED
from policies.models import Policy
from proportions import Success
from rankings.api.shapes import RankingRow
from rankings.pages.record import board_rows, record_of
from robots.submissions import revisions_of, variants_of
from simulation import catalogue


def policies(request: HttpRequest) -> HttpResponse:
    rows, apart = board_rows()
    found = list(Policy.objects.filter(reference=False).defer("card"))
    found.sort(key=lambda each: (_place(rows.get(each.pk)), each.name.casefold()))
    entries = [_entry(each, rows.get(each.pk)) for each in found]
    groups = [[entry for entry in entries if entry["able"] is able] for able in (True, False)]
    context = {"page": "models", "competing": groups[0], "others": groups[1], "apart": apart}
    return render(request, "robots/policies.html", context)


def _entry(policy: Policy, row: RankingRow | None) -> dict[str, Any]:
    """`rank`: none without a vote, and none while the policy cannot play."""
    able = policy.status == ContestantStatus.ACTIVE
    rank = row["rank"] if row is not None and able and row["vote_count"] else None
    success = None if policy.success is None else _percent(policy.success)
    return {"policy": policy, "row": row, "able": able, "rank": rank, "success": success}


def policy(request: HttpRequest, model_id: str) -> HttpResponse:
    found = Policy.objects.filter(pk=model_id).first()
    if found is None:
        raise Http404
    history = {"revisions": revisions_of(found), "variants": variants_of(found.pk)}
    context = {"page": "models", "policy": found, "tasks": list(_tasks(found)), **record_of(found), **history}
    return render(request, "robots/policy.html", context)


def _place(row: RankingRow | None) -> tuple[float, float]:
    """By component, then by rank. Policies without a rank come last in their component, those without a vote last."""
    if row is None or row["component"] is None:
        return (math.inf, 0.0)
    return (row["component"], math.inf if row["rank"] is None else row["rank"])


def _percent(success: Success) -> int:
    """Rounded, but for what would then read as never or always and is neither."""
    percent = round(100 * success["rate"])
    return min(99, max(1, percent)) if 0 < success["successes"] < success["episodes"] else percent


def _tasks(policy: Policy) -> Iterator[dict[str, Any]]:
    """Per task the success rate in its card, from seeded rollouts of the unshifted suite: `percent` of goals reached,
    and the `width` of its interval from `low` to `high` [%]. In the catalogue's order. Tasks of several scenes tell
    their `scene`, since they share names.
    """
    rates = ((policy.card.get("measured") or {}).get(UNSHIFTED) or {}).get("tasks") or {}
    tasks = [task for task in catalogue.tasks() if task.id in rates]
    several = len({task.scene_id for task in tasks}) > 1
    for task in tasks:
        row = rates[task.id]
        low, high = (round(100 * row[name]) for name in ("low", "high"))
        bar = {"percent": _percent(row), "low": low, "high": high, "width": max(1, high - low)}
        scene = catalogue.scene(task.scene_id).name if several else ""
        yield {"name": task.name, "scene": scene, "success": row, **bar}
