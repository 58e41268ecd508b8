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
            for setting in kind.places()
        ],
        "place": kind.names,
        "anywhere": _elsewhere(request, kind, {}),
        "kind": kind,
        "kinds": kinds.every(),
        "has_tasks": bool(kind.tasks()),
        "of_kind": f"?kind={kind.id}" if kind_named(kind) else "",
    }
    return render(request, f"rankings/{tab}.html", {**shared, **context})


def _elsewhere(request: HttpRequest, kind: Kind, place: dict[str, str]) -> str:
    """The query of this page for another place."""
    asked = {name: value for name, value in request.GET.items() if name not in kind.names}
    return urlencode(asked | place)


def task_names(kind: Kind) -> dict[str, str]:
    """Task -> its name in the visitor's language."""
    return {task: gettext(name) for task, name in kind.tasks().items()}
