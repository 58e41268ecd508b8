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
    """That of the address; the default one where it names none that exists."""
    try:
        return kinds.named(request.GET.get("kind"))
    except UnknownName:
        return kinds.default()


def kind_named(kind: Kind) -> str:
    """What an address says of it: nothing of the default one."""
    return "" if kind is kinds.default() else kind.id


def board_page(request: HttpRequest, tab: str, now: Current, **context: Any) -> HttpResponse:
    """`tab`: the template, and the link of the navigation that is the current page."""
    kind, published = now.kind, now.published
    shared = {
        "page": "leaderboard",
        "tab": tab,
        "snapshot": published.snapshot,
        "published": published.content is not None,
        "robots": [_tab(request, kind, setting, name) for setting, name in setting_names(kind).items()],
        "place": kind.names,
        "anywhere": _placed(request, kind, {}),
        "kind": kind,
        "kinds": kinds.every(),
        "has_tasks": bool(kind.tasks()),
        "of_kind": f"?kind={kind.id}" if kind_named(kind) else "",
    }
    return render(request, f"rankings/{tab}.html", {**shared, **context})


def _tab(request: HttpRequest, kind: Kind, setting: str, name: str) -> dict[str, Any]:
    """`query`: of the address of its board; `chosen`: the same with all else as it is."""
    named = {"kind": kind.id} if kind_named(kind) else {}
    place = {kind.names.setting: setting}
    return {"id": setting, "name": name, "query": urlencode(named | place), "chosen": _placed(request, kind, place)}


def _placed(request: HttpRequest, kind: Kind, place: dict[str, str]) -> str:
    """The query of this page at another place of its kind."""
    asked = {name: value for name, value in request.GET.items() if name not in kind.names}
    return urlencode(asked | place)


def setting_names(kind: Kind) -> dict[str, str]:
    titles = kind.titles()
    return {setting: titles[setting] for setting in kind.places()}


def task_names(kind: Kind) -> dict[str, str]:
    """In the visitor's language."""
    return {task: gettext(name) for task, name in kind.tasks().items()}
