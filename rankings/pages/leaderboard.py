"""The board: a table of ratings for each component, and the ratings over time."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from arena.errors import UnknownName
from arena.kinds import Kind
from rankings.api import choices, selectors
from rankings.api.selectors import LeaderboardQuery
from rankings.api.shapes import Component, RankingRow
from rankings.pages import charts, figures
from rankings.pages.base import asked_kind, board_page, task_names
from rankings.pages.style import shown
from rankings.publication.published import Current, Published, current
from rankings.tally.table import Board

SORTS = (("elo", gettext_lazy("Rating")), ("votes", gettext_lazy("Votes")), ("win_rate", gettext_lazy("Win rate")))
Marked = Callable[[Sequence[RankingRow]], list[charts.MarkedRow]]


@dataclass(frozen=True)
class Block:
    """Rows of one table. `component`: that of all rows; None where a board has only one or the table mixes several."""

    component: int | None
    rows: list[charts.MarkedRow]


@dataclass(frozen=True)
class Tab:
    name: str
    query: str
    current: bool


def leaderboard(request: HttpRequest) -> HttpResponse:
    """The board in the address; for an unknown name the global board with a complaint."""
    query = LeaderboardQuery.of(request.GET)
    complaint = ""
    now = current(asked_kind(request))
    published = now.published
    try:
        board = selectors.leaderboard(query, now)
    except UnknownName as error:
        query, complaint = LeaderboardQuery(kind=now.kind.id), str(error)
        board = selectors.leaderboard(query, now)
    titles = now.kind.titles()
    components = board["metadata"]["components"]
    apart = len(components) > 1
    marked = partial(
        charts.with_marks,
        exposure=published.content["exposure"] if published.content else {},
        partial=_voted_in_some([*board["rankings"], *board["provisional"]], components, titles),
        address=now.kind.contestant_address,
    )
    return board_page(
        request,
        "leaderboard",
        now,
        query=query,
        complaint=complaint,
        blocks=_blocks(board["rankings"], marked, apart=apart and query.sort == "elo"),
        provisional=marked(board["provisional"]),
        apart=apart,
        mixed=apart and query.sort != "elo",
        means=[_mean_over(component, titles) for component in components if _is_mean(component, query)],
        scene_tabs=_scene_tabs(request, now, query),
        task_tabs=_task_tabs(request, now, query),
        division_tabs=_division_tabs(request, now.kind, query, board["metadata"]["divisions"]),
        metadata=board["metadata"],
        updated=published.at,
        just_updated=published.at is not None and timezone.now() - published.at < timedelta(minutes=1),
        filtered=bool(query.search or query.organization or query.family),
        sorts=SORTS,
        controlled=shown(now) if query.board == Board() else None,
        trends=_trends(published, board["rankings"]) if query.board == Board() else [],
    )


def _scene_tabs(request: HttpRequest, now: Current, query: LeaderboardQuery) -> list[Tab]:
    """One for all scenes and one for each that is offered or has votes; none where there is only one. A task is left
    behind with its scene."""
    scenes = choices.scenes_of(now.kind, now.published, query.setting)
    return [] if _are_tasks(now.kind, scenes) else _places(request, now.kind, query, gettext("All scenes"), scenes)


def _are_tasks(kind: Kind, scenes: Sequence[str]) -> bool:
    """Whether each scene is a task by itself, as the scenarios of voice are: they are listed once then."""
    return bool(scenes) and set(scenes) <= set(kind.known_tasks())


def _places(
    request: HttpRequest, kind: Kind, query: LeaderboardQuery, all_of_them: str, scenes: Sequence[str]
) -> list[Tab]:
    if len(scenes) < 2:
        return []
    tabs = {"": all_of_them, **{scene: gettext(kind.titles()[scene]) for scene in scenes}}
    chosen = query.scene or (query.task if query.task in tabs else "")
    return [
        Tab(title, _query(request, {kind.names.scene: scene, "task": ""}), scene == chosen)
        for scene, title in tabs.items()
    ]


def _task_tabs(request: HttpRequest, now: Current, query: LeaderboardQuery) -> list[Tab]:
    """One for all tasks and one for each of the scene that is offered or has votes. Over several scenes only the tasks
    that belong to all. Where scenes are tasks, these."""
    known, scenes = now.kind.known_tasks(), choices.scenes_of(now.kind, now.published, query.setting)
    if _are_tasks(now.kind, scenes):
        return _places(request, now.kind, query, gettext("All tasks"), scenes)
    own = known[query.task].scene if query.task else ""
    scene = query.scene or own or (scenes[0] if len(scenes) == 1 else "")
    names = task_names(now, scene)
    tasks = {task: name for task, name in names.items() if not known[task].scene or scene}
    if not tasks:
        return []
    tabs = {"": gettext("All tasks"), **tasks}
    return [Tab(title, _query(request, {"task": task}), task == query.task) for task, title in tabs.items()]


def _division_tabs(request: HttpRequest, kind: Kind, query: LeaderboardQuery, divisions: Sequence[str]) -> list[Tab]:
    """One for all contestants and one for each division; none where there is none."""
    if not divisions:
        return []
    tabs = {"": gettext("All"), **{name: str(kind.divisions[name]) for name in divisions}}
    return [
        Tab(title, _query(request, {kind.divided_by: name}), name == query.division) for name, title in tabs.items()
    ]


def _query(request: HttpRequest, changed: Mapping[str, str]) -> str:
    """The query of this page with these parameters; empty ones are left out."""
    asked = {name: value for name, value in request.GET.items() if name not in changed}
    return urlencode(asked | {name: value for name, value in changed.items() if value})


def _blocks(ranked: Sequence[RankingRow], marked: Marked, *, apart: bool) -> list[Block]:
    """One table, or one per component where they are shown `apart`; the bars of a table share a scale."""
    if not apart:
        return [Block(None, marked(ranked))] if ranked else []
    groups = itertools.groupby(ranked, key=lambda row: row["component"])
    return [Block(component, marked(list(own))) for component, own in groups]


def _voted_in_some(
    rows: Sequence[RankingRow], components: Sequence[Component], names: Mapping[str, str]
) -> dict[str, str]:
    """Policy -> the settings in which it has votes, where its component has votes in more of them."""
    settings = {each["component"]: len(each["robots"]) for each in components}
    return {
        row["model_id"]: ", ".join(names.get(setting, setting) for setting in row["robots"])
        for row in rows
        if row["component"] and 0 < len(row["robots"]) < settings[row["component"]]
    }


def _trends(published: Published, ranked: Sequence[RankingRow]) -> list[tuple[int, figures.Trend]]:
    """A figure for each component, since readers compare the lines of one figure."""
    points = published.content["trend"] if published.content else []
    names: dict[int, dict[str, str]] = {}
    for row in ranked:
        names.setdefault(row["component"] or 1, {})[row["model_id"]] = row["name"]
    found = [(component, figures.trend(points, names[component])) for component in sorted(names)]
    return [(component, trend) for component, trend in found if trend]


def _is_mean(component: Component, query: LeaderboardQuery) -> bool:
    """Over settings. The global board says so of a single one, too, since that one's board is the same."""
    return not query.setting and (len(component["robots"]) > 1 or query.board == Board())


def _mean_over(component: Component, names: Mapping[str, str]) -> dict[str, Any]:
    """The settings over which a component's ratings are means: names with whole percentages."""
    shares = sorted(component["robots"], key=lambda each: (-each["share"], each["robot_id"]))
    percent = [(names.get(each["robot_id"], each["robot_id"]), round(100 * each["share"])) for each in shares]
    return {"component": component["component"], "shares": percent}
