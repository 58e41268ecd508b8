"""The pages on which visitors report what should not be public, and write comments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from arena.api.serializers import is_public_id
from arena.errors import BattleHidden, TooMany
from arena.models import Battle, BattleStatus, Turn, row_or_none
from arena.visitors.cookies import visitor_of
from arena.visitors.permissions import check_public
from arena.visitors.throttles import address_of, callers_of, spend
from community import comments, reports
from community.forms import CommentForm, ReportForm
from community.models import Comment
from community.reports import Target

Page = Callable[..., HttpResponse]


def shared_battle_only(page: Page) -> Page:
    """Gives the page the battle with this id. 404 for one without a vote, 410 for one that a moderator hid."""

    def shown(request: HttpRequest, battle_id: str, **more: Any) -> HttpResponse:
        battle = _find(battle_id)
        try:
            check_public(request, battle)
        except BattleHidden:
            return render(request, "arena/hidden.html", status=BattleHidden.status)
        return page(request, battle, **more)

    return shown


def _find(battle_id: str) -> Battle:
    voted = Battle.objects.filter(battle_id=battle_id, status=BattleStatus.VOTED).select_related("session")
    found = row_or_none(voted) if is_public_id(battle_id) else None
    if found is None:
        raise Http404
    return found


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@shared_battle_only
def report_battle(request: HttpRequest, battle: Battle) -> HttpResponse:
    """A form to report a battle or one of its instructions; with POST the report."""
    turns = _instructions_of(battle)
    form = ReportForm(_sent(request), turns=turns)
    if not form.is_valid():
        return _form_page(request, battle, form)
    turn = next((turn for turn in turns if turn.turn_id == form.cleaned_data["about"]), None)
    return _take_report(request, form, Target(battle, turn))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@shared_battle_only
def report_comment(request: HttpRequest, battle: Battle, comment_id: int) -> HttpResponse:
    public = Comment.objects.filter(battle=battle, state=Comment.State.PUBLIC)
    if not comments.are_open():
        raise Http404
    comment = get_object_or_404(public, pk=comment_id)
    form = ReportForm(_sent(request))
    if not form.is_valid():
        return _form_page(request, battle, form, comment=comment)
    return _take_report(request, form, Target(battle, comment=comment))


@never_cache
@require_GET
@shared_battle_only
def reported(request: HttpRequest, battle: Battle) -> HttpResponse:
    return render(request, "community/reported.html", {"battle_id": battle.battle_id})


@require_POST
@shared_battle_only
def write_comment(request: HttpRequest, battle: Battle) -> HttpResponse:
    if not comments.are_open():
        raise Http404
    if not request.user.is_authenticated:
        return redirect_to_login(_address(battle))
    form = CommentForm(request.POST)
    if not form.is_valid() or not _is_within_limits("comments", request, form):
        page = {"form": form, "battle_id": battle.battle_id}
        return render(request, "community/comment_refused.html", page, status=_status(form))
    comments.write(battle, request.user, form.cleaned_data["text"])
    return HttpResponseRedirect(f"{_address(battle)}#comments")


@require_POST
def delete_comment(request: HttpRequest, comment_id: int) -> HttpResponse:
    """Its author takes a comment back."""
    own = Comment.objects.filter(author=request.user) if request.user.is_authenticated else Comment.objects.none()
    comment = get_object_or_404(own.select_related("battle"), pk=comment_id)
    comment.delete()
    return HttpResponseRedirect(f"{_address(comment.battle)}#comments")


def _take_report(request: HttpRequest, form: ReportForm, target: Target) -> HttpResponse:
    if not _is_within_limits("reports", request, form):
        return _form_page(request, target.battle, form, comment=target.comment)
    reports.file(target, form.cleaned_data["reason"], form.cleaned_data["text"], _reporter(request))
    return redirect("battle-reported", target.battle.battle_id)


def _form_page(request: HttpRequest, battle: Battle, form: ReportForm, comment: Comment | None = None) -> HttpResponse:
    page = {"form": form, "battle_id": battle.battle_id, "comment": comment}
    return render(request, "community/report.html", page, status=_status(form))


def _sent(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def _status(form: forms.Form) -> int:
    if not form.is_bound:
        return 200
    return 429 if form.has_error(NON_FIELD_ERRORS, "throttled") else 422


def _is_within_limits(action: str, request: HttpRequest, form: forms.Form) -> bool:
    """Count one more. If it is one too many, the form says when to come back."""
    try:
        spend(action, callers_of(request))
    except TooMany as refusal:
        wait = gettext("That was a lot in a short time. Try again in {} seconds.").format(refusal.retry_after_s)
        form.add_error(None, forms.ValidationError(wait, code="throttled"))
        return False
    return True


def _instructions_of(battle: Battle) -> list[Turn]:
    """A turn for each of the battle's public instructions."""
    turns = Turn.objects.judged().filter(battle=battle, instruction_hidden_at=None).order_by("seq")
    return list({turn.instruction: turn for turn in reversed(turns)}.values())[::-1]


def _reporter(request: HttpRequest) -> str:
    return reports.reporter_of(visitor_of(request) or address_of(request))


def _address(battle: Battle) -> str:
    return reverse("shared-battle-page", args=[battle.battle_id])
