"""The pages on which researchers submit a policy, and see what became of it."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from arena.errors import TooMany
from arena.visitors.cookies import visitor_of
from arena.visitors.throttles import callers_of, spend
from robots.models import Submission
from robots.submission_form import SubmissionForm


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: HttpRequest) -> HttpResponse:
    form = SubmissionForm(request.POST if request.method == "POST" else None)
    status = 200
    if form.is_bound:
        if form.is_valid():
            if (wait := _wait(request)) is None:
                return redirect("policy-submitted", form.save(visitor_of(request) or "").token)
            form.add_error(None, forms.ValidationError(wait))
            status = 429
        else:
            status = 422
    context = {"page": "models", "form": form, "ranking": settings.RANKING}
    return render(request, "robots/submit.html", context, status=status)


@never_cache
@require_safe
def submitted(request: HttpRequest, token: str) -> HttpResponse:
    row = get_object_or_404(Submission.objects.select_related("trial"), token=token)
    return render(request, "robots/submitted.html", {"page": "models", "submission": row, "trial": row.trial})


def _wait(request: HttpRequest) -> str | None:
    """Count one more submission; if it is one too many, when to come back."""
    try:
        spend("submissions", callers_of(request))
    except TooMany as refusal:
        told = gettext("That was a lot in a short time. Try again in {} seconds.")
        return told.format(refusal.retry_after_s)
    return None
