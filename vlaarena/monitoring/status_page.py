"""The admin's status page: parts, queue, workers, failures and the age of the boards."""

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
from community.models import Comment
from community.models import Report as VisitorsReport
from rankings.models import Report
from rankings.publication import report
from simulation import catalogue
from vlaarena import health
from vlaarena.monitoring import readings
from vlaarena.monitoring.readings import Boards

LOOK = "arena.view_attempt"
SPEED_HOURS, SLOWEST_SHOWN = 24, 15
OK, WORTH_A_LOOK, BAD = "ok", "look", "bad"

# Thresholds for WORTH_A_LOOK, the same as in deploy/prometheus/alarms.yml.
LONG_WAIT_S = 120.0
OLD_BOARDS_S = 2 * 3600.0
OLD_CHECK_S = 26 * 3600.0
LITTLE_DISK = 0.1


@dataclass(frozen=True)
class Figure:
    """One of the large figures on top. `state`: OK, WORTH_A_LOOK or BAD; `note` explains the value."""

    name: str
    value: str
    note: str
    state: str = OK


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    if not request.user.has_perm(LOOK):
        raise PermissionDenied
    boards, workers = readings.boards(), readings.workers()
    published = report.latest(kinds.default())
    context = {
        **admin.site.each_context(request),
        "title": "Status",
        "at": timezone.now(),
        "parts": health.parts_now(),
        "worlds": catalogue.lacking(),
        "reports": VisitorsReport.objects.open().count(),
        "comments": Comment.objects.filter(state=Comment.State.PENDING).count(),
        "figures": [*_queue_figures(), _worker_figure(len(workers)), *_board_figures(boards), _disk_figure()],
        "workers": [{"worker": worker, "silent": span(worker.silent_s)} for worker in workers],
        "unavailable": readings.unavailable(),
        "boards": boards,
        "report": published,
        "parted": _parted(published),
        "speeds": readings.speeds(readings.played(SPEED_HOURS))[:SLOWEST_SHOWN],
        "failures": readings.failures(),
        "versions": _versions(),
    }
    return TemplateResponse(request, "admin/status.html", context)


def _parted(published: Report | None) -> list[str]:
    """Where votes and success rates disagree: "overall", tasks and policies."""
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


def _queue_figures() -> list[Figure]:
    queue = readings.queue()
    state = WORTH_A_LOOK if queue.oldest_s > LONG_WAIT_S else OK
    return [
        Figure("Queued", str(queue.queued), f"rollouts; {queue.running} are played now"),
        Figure("Oldest wait", span(queue.oldest_s), "of what is queued", state),
    ]


def _worker_figure(number: int) -> Figure:
    return Figure("Workers", str(number), "alive", OK if number else BAD)


def _board_figures(boards: Boards) -> list[Figure]:
    run, check, findings = boards.aggregation, boards.check, sum(boards.findings.values())
    old = run.age_s is None or run.age_s > OLD_BOARDS_S
    unchecked = check.age_s is None or check.age_s > OLD_CHECK_S
    checked = "never" if check.age_s is None else f"{span(check.age_s)} ago"
    return [
        Figure(
            "Boards",
            "none yet" if run.age_s is None else f"{span(run.age_s)} old",
            f"aggregation: {run.status}; {boards.pending} votes wait, {boards.failed} failed",
            BAD if run.status == "failed" else WORTH_A_LOOK if old else OK,
        ),
        Figure(
            "Nightly check",
            check.status,
            f"of counts and boards; {checked}",
            BAD if check.status == "different" else WORTH_A_LOOK if unchecked else OK,
        ),
        Figure("Findings", str(findings), "open, for moderators", WORTH_A_LOOK if findings else OK),
    ]


def _disk_figure() -> Figure:
    disk = readings.disk()
    share = disk.free / disk.total
    note = f"free ({share:.0%}) at {settings.DATA_DIR}"
    return Figure("Disk", f"{disk.free / 1e9:.1f} GB", note, BAD if share < LITTLE_DISK else OK)


def _versions() -> dict[str, Any]:
    database = ".".join(str(part) for part in connection.get_database_version())
    return {
        "VLA Arena": settings.SPECTACULAR_SETTINGS["VERSION"],
        "Python": platform.python_version(),
        "Django": django.__version__,
        connection.vendor: database,
        **{name: version(name) for name in ("celery", "channels", "mujoco", "torch")},
    }
