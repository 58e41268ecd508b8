"""The profile, the privacy page, and a visitor's own data."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth import logout
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from arena.errors import TooMany, TurnRunning
from arena.models import Session, Vote
from arena.store import StoreUnavailable
from arena.visitors.cookies import visitor_of
from arena.visitors.throttles import address_of, spend
from people import accounts, names, own_data
from people.history import history, personal_board
from people.models import LONGEST_NAME, Account
from people.own_data import Owner

View = Callable[..., HttpResponseBase]


def with_accounts(view: View) -> View:
    """404 where accounts are switched off."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.ACCOUNTS:
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


def not_for_staff(view: View) -> View:
    """404 for those who are logged in to the admin: they have an account there, and none here."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and request.user.is_staff:
            raise Http404
        return view(request, *args, **kwargs)

    return guarded


class NameForm(forms.Form):
    display_name = forms.CharField(max_length=LONGEST_NAME, required=False)

    def clean_display_name(self) -> str:
        return names.cleaned(str(self.cleaned_data["display_name"]))


@with_accounts
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest) -> HttpResponseBase:
    account = accounts.account_of(request)
    if account is None:
        return render(request, "people/welcome.html", {"page": "profile"})
    accounts.heal_cookie(request, account)
    form = NameForm(request.POST or None, initial={"display_name": account.display_name})
    if request.method == "POST" and form.is_valid():
        account.display_name = form.cleaned_data["display_name"]
        account.save(update_fields=["display_name"])
        return HttpResponseRedirect(reverse("profile"))
    return render(request, "people/profile.html", _profile(request, account, form), status=422 if form.errors else 200)


def _profile(request: HttpRequest, account: Account, form: NameForm) -> dict[str, Any]:
    return {
        "page": "profile",
        "account": account,
        "form": form,
        "longest_name": LONGEST_NAME,
        "votes": history(account.visitor, request.GET.get("page")),
        "board": personal_board(account.visitor),
    }


@require_GET
def privacy(request: HttpRequest) -> HttpResponse:
    days = {"unvoted_days": round(settings.UNVOTED_DAYS), "network_days": settings.NETWORK_DAYS}
    about = {"session_days": settings.ACCOUNT_SESSION_DAYS, "contact": settings.CONTACT, **days}
    about["data_license"] = settings.DATA_LICENSE
    about["voice_days"] = round(settings.VOICE["recording_days"])
    return render(request, "people/privacy.html", {**about, "contact_is_address": "@" in settings.CONTACT})


@never_cache
@require_GET
def your_data(request: HttpRequest) -> HttpResponse:
    owner = owner_of(request)
    return render(request, "people/your_data.html", _summary(owner))


@never_cache
@require_GET
def download(request: HttpRequest) -> HttpResponseBase:
    """A file that is made while it is sent: it may be long."""
    owner = owner_of(request)
    if refusal := _refuse_too_many(request):
        return refusal
    if owner is None:
        return HttpResponseRedirect(reverse("own-data"))
    response = StreamingHttpResponse(own_data.export(owner), content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="vla-arena-own-data.json"'
    return response


@never_cache
@require_POST
def delete(request: HttpRequest) -> HttpResponseBase:
    """Needs the tick of the form, so that no single press deletes anything."""
    owner = owner_of(request)
    if refusal := _refuse_too_many(request):
        return refusal
    if owner is None or request.POST.get("sure") != "yes":
        return render(request, "people/your_data.html", {**_summary(owner), "unsure": True}, status=422)
    try:
        own_data.forget(owner)
    except TurnRunning:
        return render(request, "people/your_data.html", {**_summary(owner), "playing": True}, status=409)
    except StoreUnavailable:
        return render(request, "people/your_data.html", {**_summary(owner), "store_down": True}, status=503)
    if owner.user is not None:
        logout(request)
    accounts.forget(request)
    return render(request, "people/deleted.html")


def owner_of(request: HttpRequest) -> Owner | None:
    """Whose data the caller may have. None for the cookie of an account that the caller is not logged in to."""
    account = accounts.account_of(request)
    if account is not None:
        accounts.heal_cookie(request, account)
        return Owner(account.visitor, account.user)
    visitor = visitor_of(request)
    if visitor is None:
        return Owner()
    return None if accounts.has_account(visitor) else Owner(visitor)


def _summary(owner: Owner | None) -> dict[str, Any]:
    if owner is None:
        return {"of_account": True}
    sessions = Session.objects.filter(user_id=owner.visitor).count() if owner.visitor else 0
    votes = Vote.objects.filter(user_id=owner.visitor).count() if owner.visitor else 0
    return {"owner": owner, "sessions": sessions, "vote_count": votes, "nothing": not (sessions or owner.user)}


def _refuse_too_many(request: HttpRequest) -> HttpResponse | None:
    try:
        spend("own_data", {"address": address_of(request)})
    except TooMany as refusal:
        response = render(request, "429.html", status=429)
        response["Retry-After"] = str(refusal.retry_after_s)
        return response
    return None
