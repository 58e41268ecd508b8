"""What the pages of the leaderboard share."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from arena import kinds
from rankings.publication.published import Published


def board_page(request: HttpRequest, tab: str, published: Published, **context: Any) -> HttpResponse:
    """`tab`: the template, and the link of the navigation that is the current page."""
    shared = {
        "page": "leaderboard",
        "tab": tab,
        "snapshot": published.snapshot,
        "published": published.content is not None,
        "robots": [{"id": setting, "name": name} for setting, name in robot_names().items()],
    }
    return render(request, f"rankings/{tab}.html", {**shared, **context})


def robot_names() -> dict[str, str]:
    kind = kinds.default()
    titles = kind.titles()
    return {setting: titles[setting] for setting in kind.places()}


def task_names() -> dict[str, str]:
    """In the visitor's language."""
    return {task: gettext(name) for task, name in kinds.default().tasks().items()}
