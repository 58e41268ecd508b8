"""The leaderboard and the pages beside it. All of them show what was published last; each costs one read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from arena.errors import UnknownName
from rankings.analysis.physics import LEAST_EPISODES, PhysicsRow
from rankings.api import selectors
from rankings.api.selectors import LeaderboardQuery
from rankings.api.shapes import Component, RankingRow
from rankings.models import Snapshot
from rankings.publication.integrity import ShadowRow
from rankings.publication.published import Published, current
from rankings.tally.matrix import only
from rankings.tally.table import GLOBAL, Board
from rankings.tally.weights import NEWCOMER, PROVEN
from rankings.trust.influence import Handover
from rankings.trust.limits import COHORT, NETWORK
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
    names = {robot.id: robot.name for robot in catalogue.robots()}
    components = board["metadata"]["components"]
    partial = _partial([*board["rankings"], *board["provisional"]], components, names)

    def marked(some: Sequence[RankingRow]) -> list[charts.MarkedRow]:
        return charts.with_marks(some, rows, exposure, partial)

    context = {
        "query": query,
        "complaint": complaint,
        "robots": catalogue.robots(),
        "blocks": _blocks(board["rankings"], marked, apart=len(components) > 1 and query.sort == "elo"),
        "provisional": marked(board["provisional"]),
        "components": components,
        "apart": len(components) > 1,
        "mixed": len(components) > 1 and query.sort != "elo",
        "means": [_mean_over(component, names) for component in components],
        "metadata": board["metadata"],
        "updated": moment,
        "just_updated": moment is not None and timezone.now() - moment < timedelta(minutes=1),
        "filtered": bool(query.search or query.organization or query.family),
        "sorts": SORTS,
        "thresholds": settings.RANKING,
        "trends": _trends(published, board["rankings"]) if not (query.robot_id or query.scene_id) else [],
        "side": published.board(name).get("side_advantage"),
    }
    return _page(request, "leaderboard.html", "board", published, context)


def physics(request: HttpRequest) -> HttpResponse:
    """Success and progress, for all tasks together or one."""
    now = current()
    published, names = now.published, now.names
    boards = published.content["physics"] if published.content else {}
    mean_of = published.content.get("physics_mean_of", []) if published.content else []
    task = request.GET.get("task", "")
    chosen = task if task in boards else "all"
    tasks = _task_names()
    context = {
        "task": chosen,
        "tasks": [(key, tasks.get(key, key)) for key in boards if key != "all"],
        "rows": [_measured(row, names, tasks) for row in boards.get(chosen, []) if row["model_id"] in names],
        "mean_of": [tasks.get(key, key) for key in mean_of] if chosen == "all" else [],
        "least": LEAST_EPISODES,
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
        matrix = only(matrix, names)
        context["apart"] = len(set(matrix["components"])) > 1
        context["columns"] = [
            {"number": number, "name": names[name]}
            for number, name in zip(_numbers(matrix["components"]), matrix["names"], strict=True)
        ]
        context["rows"] = [
            {
                **column,
                "cells": [_cell(*cell) for cell in zip(matrix["rates"][own], matrix["votes"][own], strict=True)],
                "own": own,
            }
            for own, column in enumerate(context["columns"])
        ]
        most = max((cell["votes"] for row in context["rows"] for cell in row["cells"]), default=0)
        for row in context["rows"]:
            for place, cell in enumerate(row["cells"]):
                cell["self"] = place == row["own"]
                cell["depth"] = round(10 * cell["votes"] / most) if most else 0
        context["settled"] = verdicts(published.content or {}, robot, context["columns"], names)
    return _page(request, "leaderboard/pairs.html", "pairs", published, context)


def trust(request: HttpRequest) -> HttpResponse:
    """What speaks for the ranking and what against it: calibration, agreement with physics, integrity."""
    now = current()
    published, names = now.published, now.names
    content = published.content
    context: dict[str, Any] = {"names": names}
    if content:
        tasks = _task_names()
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
            "shadow_groups": _by_component(content["shadow"]["rows"], published.components(GLOBAL, names), names),
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


@dataclass(frozen=True)
class Block:
    """Rows of one table. `component`: that of all of them; None where there is only one, or the table is of several."""

    component: int | None
    rows: list[charts.MarkedRow]


def _blocks(
    ranked: Sequence[RankingRow], marked: Callable[[Sequence[RankingRow]], list[charts.MarkedRow]], *, apart: bool
) -> list[Block]:
    """A table each where components are shown `apart`; bars of one table share a scale."""
    if not apart:
        return [Block(None, marked(ranked))] if ranked else []
    groups = itertools.groupby(ranked, key=lambda row: row["component"])
    return [Block(component, marked(list(own))) for component, own in groups]


def _partial(rows: Sequence[RankingRow], components: Sequence[Component], names: Mapping[str, str]) -> dict[str, str]:
    """Policy -> the robots it was voted on, where others of its component were voted on on more."""
    robots = {each["component"]: len(each["robots"]) for each in components}
    return {
        row["model_id"]: ", ".join(names.get(robot, robot) for robot in row["robots"])
        for row in rows
        if row["component"] and 0 < len(row["robots"]) < robots[row["component"]]
    }


def _trends(published: Published, ranked: Sequence[RankingRow]) -> list[tuple[int, figures.Trend]]:
    """A figure for each component: lines in one figure are compared."""
    points = published.content["trend"] if published.content else []
    names: dict[int, dict[str, str]] = {}
    for row in ranked:
        names.setdefault(row["component"] or 1, {})[row["model_id"]] = row["name"]
    found = [(component, figures.trend(points, names[component])) for component in sorted(names)]
    return [(component, trend) for component, trend in found if trend]


def _mean_over(component: Component, names: Mapping[str, str]) -> dict[str, Any]:
    """What the ratings of a component are the mean of: robots by name, with whole percentages."""
    robots = sorted(component["robots"], key=lambda each: (-each["share"], each["robot_id"]))
    told = [(names.get(each["robot_id"], each["robot_id"]), round(100 * each["share"])) for each in robots]
    return {"component": component["component"], "robots": told}


def _task_names() -> dict[str, str]:
    """In the visitor's language."""
    return {task.id: gettext(task.name) for task in catalogue.tasks()}


def _measured(row: PhysicsRow, names: Mapping[str, str], tasks: Mapping[str, str]) -> dict[str, Any]:
    """Shares as whole percentages; tasks by name. Rows of an earlier release name no tasks."""
    shares = ("rate", "low", "high", "progress", "progress_low", "progress_high")
    percent = {key: round(100 * value) for key, value in row.items() if key in shares and isinstance(value, float)}
    few = [tasks.get(key, key) for key in row.get("few_of", [])]
    return {**row, "name": names[row["model_id"]], "percent": percent, "few_of": few}


def _numbers(components: Sequence[int]) -> list[str]:
    """1, 2, 3; and 1.1, 1.2, 2.1 for policies of several components: a place in one is none in another."""
    if len(set(components)) < 2:
        return [str(number) for number in range(1, len(components) + 1)]
    return [
        f"{component}.{number}" for component, own in itertools.groupby(components) for number, _ in enumerate(own, 1)
    ]


def _cell(rate: float | None, votes: int) -> dict[str, Any]:
    return {"rate": None if rate is None else round(100 * rate), "votes": votes, "heat": figures.heat(rate)}


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
