"""What the pages of the leaderboard share."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from arena import kinds
from arena.errors import UnknownName
from arena.kinds import Kind
from rankings.api import choices
from rankings.publication.published import Current


def asked_kind(request: HttpRequest) -> Kind:
    """The kind in the address; the default one where that names none that exists."""
    try:
        return kinds.named(request.GET.get("kind"))
    except UnknownName:
        return kinds.default()


def kind_named(kind: Kind) -> str:
    """The kind in an address; empty for the default one."""
    return "" if kind is kinds.default() else kind.id


def board_page(request: HttpRequest, tab: str, now: Current, **context: Any) -> HttpResponse:
    """`tab`: the template's name, which marks the current page in the navigation."""
    kind, published, titles = now.kind, now.published, now.kind.titles()
    shared = {
        "page": "leaderboard",
        "tab": tab,
        "snapshot": published.snapshot,
        "published": published.content is not None,
        "settings": [
            {"id": setting, "name": titles[setting], "query": _elsewhere(request, kind, {kind.names.setting: setting})}
            for setting in choices.settings_of(kind, published)
        ],
        "place": kind.names,
        "anywhere": _elsewhere(request, kind, {}),
        "kind": kind,
        "kinds": [each for each in kinds.every() if each.offered or each is kind],
        "has_tasks": bool(kind.tasks()),
        "of_kind": f"?kind={kind.id}" if kind_named(kind) else "",
    }
    return render(request, f"rankings/{tab}.html", {**shared, **context})


def _elsewhere(request: HttpRequest, kind: Kind, place: dict[str, str]) -> str:
    """The query of this page for another place, and for all tasks."""
    asked = {name: value for name, value in request.GET.items() if name not in (*kind.names, "task")}
    return urlencode(asked | place)


def task_names(now: Current, scene: str = "") -> dict[str, str]:
    """Task -> its name in the visitor's language, of the scene or of all: then the scene is named before it where there
    are tasks of several."""
    known, titles = now.kind.known_tasks(), now.kind.titles()
    found = {task: known[task] for task in choices.tasks_of(now.kind, now.published, scene)}
    several = len({each.scene for each in found.values()}) > 1
    return {
        task: f"{gettext(titles[each.scene])}: {gettext(each.name)}" if several and each.scene else gettext(each.name)
        for task, each in found.items()
    }
