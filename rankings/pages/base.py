"""What the pages of the leaderboard share."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext

from rankings.published import Published
from simulation import catalogue


def board_page(request: HttpRequest, tab: str, published: Published, **context: Any) -> HttpResponse:
    """`tab`: the template, and the link of the navigation that is the current page."""
    shared = {
        "page": "leaderboard",
        "tab": tab,
        "snapshot": published.snapshot,
        "published": published.content is not None,
        "robots": catalogue.robots(),
    }
    return render(request, f"rankings/{tab}.html", {**shared, **context})


def robot_names() -> dict[str, str]:
    return {robot.id: robot.name for robot in catalogue.robots()}


def task_names() -> dict[str, str]:
    """In the visitor's language."""
    return {task.id: gettext(task.name) for task in catalogue.tasks()}
