"""The admin's status page: how every part is, what waits, who plays, what failed, how old the boards are."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import django
from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from arena import kinds
from rankings.models import Report
from rankings.publication import report
from vlaarena import health
from vlaarena.monitoring import readings
from vlaarena.monitoring.readings import Backlog, Boards, Disk

LOOK = "arena.view_attempt"
SPEED_HOURS, SLOWEST_SHOWN = 24, 15
OK, WORTH_A_LOOK, BAD = "ok", "look", "bad"

# Beyond these something is worth a look; the same as in deploy/prometheus/alarms.yml.
LONG_WAIT_S = 120.0
OLD_BOARDS_S = 2 * 3600.0
OLD_CHECK_S = 26 * 3600.0
LITTLE_DISK = 0.1


@dataclass(frozen=True)
class Figure:
    """One of the large figures on top. `state`: OK, WORTH_A_LOOK or BAD; `note` says what it is about."""

    name: str
    value: str
    note: str
    state: str = OK


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    if not request.user.has_perm(LOOK):
        raise PermissionDenied
    queue, boards, disk, workers = readings.queue(), readings.boards(), readings.disk(), readings.workers()
    published = report.latest(kinds.default())
    context = {
        **admin.site.each_context(request),
        "title": "Status",
        "at": timezone.now(),
        "parts": health.parts_now(),
        "figures": [*_of_queue(queue), _of_workers(len(workers)), *_of_boards(boards), _of_disk(disk)],
        "workers": [{"worker": worker, "silent": span(worker.silent_s)} for worker in workers],
        "boards": boards,
        "report": published,
        "parted": _parted(published),
        "speeds": readings.speeds(readings.played(SPEED_HOURS))[:SLOWEST_SHOWN],
        "failures": readings.failures(),
        "versions": _versions(),
    }
    return TemplateResponse(request, "admin/status.html", context)


def _parted(published: Report | None) -> list[str]:
    """Where votes and physics are said to part: overall, in tasks, for policies."""
    if published is None:
        return []
    found = published.content["agreement"]
    named = {"overall": found["overall"], **found["tasks"], **found["policies"]}
    return [name for name, agreement in named.items() if agreement["parted"]]


def span(seconds: float) -> str:
    """`8 s`, `12 min`, `5.2 h`, `3.1 d`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} d"


def _of_queue(queue: Backlog) -> list[Figure]:
    state = WORTH_A_LOOK if queue.oldest_s > LONG_WAIT_S else OK
    return [
        Figure("Queued", str(queue.queued), f"rollouts; {queue.running} are played now"),
        Figure("Oldest wait", span(queue.oldest_s), "of what is queued", state),
    ]


def _of_workers(number: int) -> Figure:
    return Figure("Workers", str(number), "alive", OK if number else BAD)


def _of_boards(boards: Boards) -> list[Figure]:
    old = boards.age_s is None or boards.age_s > OLD_BOARDS_S
    boards_state = BAD if boards.status == "failed" else WORTH_A_LOOK if old else OK
    unchecked = boards.check_age_s is None or boards.check_age_s > OLD_CHECK_S
    check_state = BAD if boards.check_status == "different" else WORTH_A_LOOK if unchecked else OK
    findings = sum(boards.findings.values())
    checked = "never" if boards.check_age_s is None else f"{span(boards.check_age_s)} ago"
    return [
        Figure(
            "Boards",
            "none yet" if boards.age_s is None else f"{span(boards.age_s)} old",
            f"aggregation: {boards.status}; {boards.pending} votes wait, {boards.failed} failed",
            boards_state,
        ),
        Figure("Nightly check", boards.check_status, f"of counts and boards; {checked}", check_state),
        Figure("Findings", str(findings), "open, for moderators", WORTH_A_LOOK if findings else OK),
    ]


def _of_disk(disk: Disk) -> Figure:
    share = disk.free / disk.total
    return Figure(
        "Disk", f"{disk.free / 1e9:.1f} GB", f"free ({share:.0%}) at {disk.folder}", BAD if share < LITTLE_DISK else OK
    )


def _versions() -> dict[str, Any]:
    database = ".".join(str(part) for part in connection.get_database_version())
    return {
        "VLA Arena": settings.SPECTACULAR_SETTINGS["VERSION"],
        "Python": platform.python_version(),
        "Django": django.__version__,
        connection.vendor: database,
        **{name: version(name) for name in ("celery", "channels", "mujoco", "torch")},
    }
