"""Pages about the robots' policies: all of them, and one with its record, its battles and its success by task."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from arena.models import Contestant, Vote, VoteChoice
from policies.measured import UNSHIFTED, overall
from policies.models import Policy
from proportions import Success
from rankings.api import selectors
from rankings.api.selectors import LeaderboardQuery
from rankings.api.shapes import RankingRow
from simulation import catalogue

RECENT = 12


@dataclass(frozen=True)
class TaskSuccess:
    """`percent` of goals reached, with the `width` of its interval from `low` to `high` [%]."""

    name: str
    success: Success
    percent: int
    low: int
    high: int
    width: int


@dataclass(frozen=True)
class SeenBattle:
    """A voted battle from one policy's side. `result`: won, lost, tie or both_bad."""

    vote: Vote
    opponent: Contestant
    result: str
    title: str


def policies(request: HttpRequest) -> HttpResponse:
    rows, apart = _rows()
    found = sorted(
        Policy.objects.filter(reference=False), key=lambda each: (_place(rows.get(each.pk)), each.name.casefold())
    )
    entries = [{"policy": each, "row": rows.get(each.pk), "success": _percent(overall(each.card))} for each in found]
    return render(request, "robots/policies.html", {"page": "models", "entries": entries, "apart": apart})


def policy(request: HttpRequest, model_id: str) -> HttpResponse:
    found = Policy.objects.filter(pk=model_id).first()
    if found is None:
        raise Http404
    rows, apart = _rows()
    context = {
        "page": "models",
        "policy": found,
        "row": rows.get(found.pk),
        "apart": apart,
        "tasks": list(_tasks(found)),
        "battles": [_seen(vote, found) for vote in _recent(found)],
    }
    return render(request, "robots/policy.html", context)


def _rows() -> tuple[dict[str, RankingRow], bool]:
    """The global board by policy, and whether there are several components, between which there is no order."""
    board = selectors.leaderboard(LeaderboardQuery())
    rows = {row["model_id"]: row for row in [*board["rankings"], *board["provisional"]]}
    return rows, len(board["metadata"]["components"]) > 1


def _place(row: RankingRow | None) -> tuple[float, float]:
    """By component, then by rank; within each of them those without a rank, and those without a vote, come last."""
    if row is None or row["component"] is None:
        return (math.inf, 0.0)
    return (row["component"], math.inf if row["rank"] is None else row["rank"])


def _percent(success: Success | None) -> int | None:
    return None if success is None else round(100 * success["rate"])


def _tasks(policy: Policy) -> Iterator[TaskSuccess]:
    """As its card says it was measured: seeded rollouts of the unshifted suite, judged by physics."""
    measured = (policy.card.get("measured") or {}).get(UNSHIFTED) or {}
    names = {task.id: task for task in catalogue.tasks()}
    for task_id, row in (measured.get("tasks") or {}).items():
        if task := names.get(task_id):
            percent, low, high = (round(100 * row[name]) for name in ("rate", "low", "high"))
            yield TaskSuccess(task.name, row, percent, low, high, width=max(1, high - low))


def _recent(policy: Policy) -> QuerySet[Vote]:
    """The newest first. Asked per side, since no index helps to sort what is on either."""
    voted = Vote.objects.filter(battle__spoiled=False)
    newest = [
        key
        for side in ({"left_model": policy}, {"right_model": policy})
        for key in voted.filter(**side).order_by("-voted_at", "-id").values_list("pk", flat=True)[:RECENT]
    ]
    votes = Vote.objects.filter(pk__in=newest).order_by("-voted_at", "-id")
    return votes.select_related("left_model", "right_model").prefetch_related("battle__turns")[:RECENT]


def _seen(vote: Vote, policy: Policy) -> SeenBattle:
    left = vote.left_model_id == policy.pk
    opponent = vote.right_model if left else vote.left_model
    own = VoteChoice.LEFT_BETTER if left else VoteChoice.RIGHT_BETTER
    even = vote.vote in (VoteChoice.TIE, VoteChoice.BOTH_BAD)
    result = str(vote.vote) if even else "won" if vote.vote == own else "lost"
    title = next((turn.instruction for turn in sorted(vote.battle.turns.all(), key=lambda turn: turn.seq)), "")
    return SeenBattle(vote, opponent, result, title)
