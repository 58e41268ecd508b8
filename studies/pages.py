"""The pages of studies: one's own with a form for a new one, each by its address, and its report."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from typing import Any

from csp.constants import NONE, UNSAFE_INLINE
from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from arena.errors import ArenaError, NotFound
from people import accounts
from people.models import Account
from people.pages import with_accounts
from policies.models import Policy
from robots import published_tasks
from simulation import catalogue
from studies import asking
from studies.api import own_study
from studies.asking import World
from studies.form import StudyForm
from studies.models import Study, StudyReport
from studies.queueing import waiting_before
from studies.shapes import has_report

REFUSED = {
    "too_many_studies": gettext_lazy("You have as many studies as an account may have. Cancel or delete one first."),
    "throttled": gettext_lazy(
        "That is more than an account may have played in a day. Ask for fewer pairs, or tomorrow."
    ),
    "study_closed": gettext_lazy("This study has ended already."),
    "not_resumable": gettext_lazy("This study cannot go on: a policy has changed since, or it has not ended."),
}


@with_accounts
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def studies(request: HttpRequest) -> HttpResponseBase:
    """Whoever is not signed in reads what it is, and where to sign in."""
    account = accounts.account_of(request)
    if account is None:
        return _page(request, "studies/welcome.html", status=200 if request.method != "POST" else 403)
    published_tasks.refresh()
    world = _world(request.POST.get("world") or request.GET.get("world") or "")
    form = StudyForm(world, request.POST if request.method == "POST" else None)
    status = 200
    if form.is_bound:
        if form.is_valid():
            try:
                return redirect("study", asking.ask(account.user, form.wanted()).study_id)
            except ArenaError as refusal:
                form.add_error(None, _told(refusal))
                status = refusal.status
        else:
            status = 422
    return _page(request, "studies/studies.html", status, form=form, rows=_rows(account), **_worlds(world))


@never_cache
@require_safe
def study(request: HttpRequest, study_id: str) -> HttpResponse:
    """For whoever knows the address."""
    return _study_page(request, get_object_or_404(Study, study_id=study_id))


@never_cache
@csp_replace(  # type: ignore[arg-type] # it passes on all arguments
    {
        "default-src": [NONE],
        "img-src": ["data:"],
        "style-src": [UNSAFE_INLINE],
        "script-src": [UNSAFE_INLINE],
        "sandbox": ["allow-scripts"],
    }
)
@require_safe
def study_report(request: HttpRequest, study_id: str) -> HttpResponse:
    """The one file, which needs nothing beside it."""
    row = get_object_or_404(StudyReport, study__study_id=study_id)
    return HttpResponse(gzip.decompress(bytes(row.page)))


@require_POST
def cancel(request: HttpRequest, study_id: str) -> HttpResponse:
    return _act(request, study_id, asking.cancel)


@require_POST
def resume(request: HttpRequest, study_id: str) -> HttpResponse:
    return _act(request, study_id, asking.resume)


@require_POST
def delete(request: HttpRequest, study_id: str) -> HttpResponse:
    asking.delete(_own(request, study_id))
    return redirect("studies")


def _act(request: HttpRequest, study_id: str, act: Callable[[Study], None]) -> HttpResponse:
    own = _own(request, study_id)
    try:
        act(own)
    except ArenaError as refusal:
        own.refresh_from_db()
        return _study_page(request, own, refusal.status, refused=_told(refusal))
    return redirect("study", study_id)


def _own(request: HttpRequest, study_id: str) -> Study:
    """404 for that of another account."""
    try:
        return own_study(accounts.account_of(request), study_id)
    except NotFound:
        raise Http404 from None


def _study_page(request: HttpRequest, row: Study, status: int = 200, **more: Any) -> HttpResponse:
    account = accounts.account_of(request)
    names = dict(Policy.objects.filter(pk__in=[row.a_id, row.b_id]).values_list("pk", "name"))
    context = {
        "study": row,
        "name_a": names.get(row.a_id, row.a_id),
        "name_b": names.get(row.b_id, row.b_id),
        "tasks": [_task_name(task_id) for task_id in row.tasks],
        "has_report": has_report(row),
        "waiting_before": waiting_before(row) if row.is_open else 0,
        "is_own": account is not None and account.user.pk == row.owner_id,
        "settled": row.told.get("sequential", {}).get("verdict"),
    }
    return _page(request, "studies/study.html", status, **context, **more)


def _task_name(task_id: str) -> str:
    return next((task.name for task in catalogue.tasks() if task.id == task_id), task_id)


def _rows(account: Account) -> list[Study]:
    return list(Study.objects.filter(owner=account.user).defer("told"))


def _world(wanted: str) -> World:
    """The world of this name, else the first one."""
    known = asking.worlds()
    return next((world for world in known if "/".join(world) == wanted), known[0])


def _worlds(chosen: World) -> dict[str, Any]:
    named = [("/".join(world), catalogue.scene(world[1]).name, world == chosen) for world in asking.worlds()]
    return {"worlds": named, "world": "/".join(chosen), "limits": settings.STUDIES}


def _told(refusal: ArenaError) -> Any:
    return REFUSED.get(refusal.code, str(refusal))


def _page(request: HttpRequest, template: str, status: int, **context: Any) -> HttpResponse:
    return render(request, template, {"page": "studies", **context}, status=status)
