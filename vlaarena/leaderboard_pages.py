"""The leaderboard and the pages beside it. All of them show what was published last; each costs one read."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy

from arena.errors import UnknownName
from rankings import selectors
from rankings.influence import Handover
from rankings.limits import COHORT, NETWORK
from rankings.models import Snapshot
from rankings.physics import PhysicsRow
from rankings.published import Published, current
from rankings.selectors import LeaderboardQuery
from rankings.table import GLOBAL, Board
from rankings.trust import NEWCOMER, PROVEN
from simulation import catalogue
from vlaarena import charts, figures
from vlaarena.pair_tables import terms, verdicts

SORTS = (("elo", gettext_lazy("Rating")), ("votes", gettext_lazy("Votes")), ("win_rate", gettext_lazy("Win rate")))


def leaderboard(request: HttpRequest) -> HttpResponse:
    """A board as the address asks for it; with a name that does not exist, the global board and a word about it."""
    query = LeaderboardQuery.of(request.GET)
    complaint = ""
    now = current()
    try:
        board = selectors.leaderboard(query, now)
    except UnknownName as error:
        query, complaint = LeaderboardQuery(), str(error)
        board = selectors.leaderboard(query, now)
    published = now.published
    name = Board(robot=query.robot_id, scene=query.scene_id).name
    rows, exposure = published.rows(name), published.content["exposure"] if published.content else {}
    moment = published.at
    listed = {row["model_id"]: row["name"] for row in board["rankings"]}
    points = published.content["trend"] if published.content else []
    context = {
        "query": query,
        "complaint": complaint,
        "robots": catalogue.robots(),
        "ranked": charts.with_marks(board["rankings"], rows, exposure),
        "provisional": charts.with_marks(board["provisional"], rows, exposure),
        "metadata": board["metadata"],
        "updated": moment,
        "just_updated": moment is not None and timezone.now() - moment < timedelta(minutes=1),
        "filtered": bool(query.search or query.organization or query.family),
        "sorts": SORTS,
        "thresholds": settings.RANKING,
        "trend": figures.trend(points, listed) if not (query.robot_id or query.scene_id) else None,
        "side": published.board(name).get("side_advantage"),
        "components": _apart(published.board(name), listed),
    }
    return _page(request, "leaderboard.html", "board", published, context)


def physics(request: HttpRequest) -> HttpResponse:
    """Success and progress, for all tasks together or one."""
    now = current()
    published, names = now.published, now.names
    boards = published.content["physics"] if published.content else {}
    task = request.GET.get("task", "")
    chosen = task if task in boards else "all"
    tasks = {each.id: each.name for each in catalogue.tasks()}
    context = {
        "task": chosen,
        "tasks": [(key, tasks.get(key, key)) for key in boards if key != "all"],
        "rows": [_measured(row, names) for row in boards.get(chosen, []) if row["model_id"] in names],
    }
    return _page(request, "leaderboard/physics.html", "physics", published, context)


def pairs(request: HttpRequest) -> HttpResponse:
    """Head to head."""
    now = current()
    published, names = now.published, now.names
    robot = request.GET.get("robot_id", "")
    matrices = published.content["matrices"] if published.content else {}
    matrix = matrices.get(Board(robot=robot).name) or matrices.get(GLOBAL)
    context: dict[str, Any] = {"robots": catalogue.robots(), "robot": robot, "rows": []}
    if matrix:
        shown = [place for place, name in enumerate(matrix["names"]) if name in names]
        context["columns"] = [{"number": n + 1, "name": names[matrix["names"][at]]} for n, at in enumerate(shown)]
        context["rows"] = [
            {
                "number": number + 1,
                "name": names[matrix["names"][one]],
                "cells": [_cell(matrix["rates"][one][other], matrix["votes"][one][other]) for other in shown],
                "own": number,
            }
            for number, one in enumerate(shown)
        ]
        most = max((cell["votes"] for row in context["rows"] for cell in row["cells"]), default=0)
        for row in context["rows"]:
            for place, cell in enumerate(row["cells"]):
                cell["self"] = place == row["own"]
                cell["depth"] = round(10 * cell["votes"] / most) if most else 0
        context["settled"] = verdicts(published.content or {}, robot, names)
    return _page(request, "leaderboard/pairs.html", "pairs", published, context)


def trust(request: HttpRequest) -> HttpResponse:
    """What speaks for the ranking and what against it: calibration, agreement with physics, integrity."""
    now = current()
    published, names = now.published, now.names
    content = published.content
    context: dict[str, Any] = {"names": names}
    if content:
        tasks = {each.id: each.name for each in catalogue.tasks()}
        agreement = content["agreement"]
        context |= {
            "calibration": content["calibration"],
            "marks": figures.calibration_marks(content["calibration"]["bins"]),
            "shares": figures.shares(),
            "overall": agreement["overall"],
            "by_task": [(tasks.get(key, key), each) for key, each in agreement["tasks"].items()],
            "by_policy": [(names[key], each) for key, each in agreement["policies"].items() if key in names],
            "removal": content["removal"],
            "handovers": [_named(each, names) for each in content["removal"]["handovers"]],
            "shadow": content["shadow"],
            "shadow_rows": [(names[key], row) for key, row in _by_rating(content["shadow"]["rows"]) if key in names],
            "voters": content["voters"],
            "global_board": published.board(GLOBAL),
            "robots": catalogue.robots(),
            "robot": (robot := request.GET.get("robot_id", "")),
            "terms": terms(content, robot, names),
        }
    return _page(request, "leaderboard/trust.html", "trust", published, context)


def method(request: HttpRequest) -> HttpResponse:
    context = {
        "ranking": settings.RANKING,
        "integrity": settings.INTEGRITY,
        "repeat_percent": 100 * settings.REPEAT_SHARE,
        "trust": {"newcomer": round(100 * NEWCOMER), "proven": PROVEN},
        "limits": {"network": round(NETWORK), "cohort": round(COHORT)},
    }
    return _page(request, "leaderboard/method.html", "method", current().published, context)


def counts_file(request: HttpRequest, input_hash: str) -> HttpResponse:
    """The counts behind a snapshot, as they went into the fit. `input_hash` is the SHA-256 of the CSV in the file:
    who has it can tell whether it is whole."""
    counts = Snapshot.objects.filter(input_hash=input_hash).values_list("counts", flat=True).first()
    if counts is None:
        raise Http404
    response = HttpResponse(bytes(counts), content_type="application/gzip")
    response["Content-Disposition"] = f'attachment; filename="vla-arena-counts-{input_hash[:12]}.csv.gz"'
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


def _page(request: HttpRequest, template: str, tab: str, published: Published, context: dict[str, Any]) -> HttpResponse:
    shared = {
        "page": "leaderboard",
        "tab": tab,
        "snapshot": published.snapshot,
        "published": published.content is not None,
    }
    return render(request, template, {**shared, **context})


def _apart(board: Mapping[str, Any], names: Mapping[str, str]) -> list[str]:
    """The groups of listed policies that never met, as text; empty where all can be compared."""
    groups = [[names[name] for name in group if name in names] for group in board.get("components", [])]
    groups = [group for group in groups if group]
    return [", ".join(group) for group in groups] if len(groups) > 1 else []


def _measured(row: PhysicsRow, names: Mapping[str, str]) -> dict[str, Any]:
    """Shares as whole percentages."""
    shares = ("rate", "low", "high", "progress", "progress_low", "progress_high")
    percent = {key: round(100 * value) for key, value in row.items() if key in shares and isinstance(value, float)}
    return {**row, "name": names[row["model_id"]], "percent": percent}


def _cell(rate: float | None, votes: int) -> dict[str, Any]:
    return {"rate": None if rate is None else round(100 * rate), "votes": votes, "heat": figures.heat(rate)}


def _named(each: Handover, names: Mapping[str, str]) -> dict[str, Any]:
    return {**each, "upper": names.get(each["upper"], each["upper"]), "lower": names.get(each["lower"], each["lower"])}


def _by_rating(rows: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return sorted(rows.items(), key=lambda entry: -entry[1]["rating"])
