"""The page of a visitor's API tokens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from people import accounts, names, tokens
from people.models import LONGEST_NAME, Account
from people.pages import with_accounts
from people.tokens import FOR_VISITORS, MOST, PLAY, READ, STUDIES, TooManyTokens

LABELS = {
    READ: gettext_lazy("read your sessions, battles, votes and studies"),
    PLAY: gettext_lazy("also play and vote as you"),
    STUDIES: gettext_lazy("ask for studies and read them, and nothing else"),
}


class TokenForm(forms.Form):
    name = forms.CharField(max_length=LONGEST_NAME)
    scope = forms.ChoiceField(choices=[(scope, scope) for scope in FOR_VISITORS])

    def clean_name(self) -> str:
        return names.cleaned(str(self.cleaned_data["name"]))


@with_accounts
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest) -> HttpResponseBase:
    account = accounts.account_of(request)
    if account is None:
        return HttpResponseRedirect(reverse("profile"))
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _created(request, account, form)
    return _page(request, account, form=form, status=422 if form.errors else 200)


@with_accounts
@never_cache
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponseBase:
    """404 for a token of somebody else."""
    account = accounts.account_of(request)
    row = tokens.live(account.user).filter(pk=pk).first() if account else None
    if row is None:
        raise Http404
    tokens.revoke(row)
    return HttpResponseRedirect(reverse("tokens"))


def _created(request: HttpRequest, account: Account, form: TokenForm) -> HttpResponse:
    """The answer itself shows the token: it is kept nowhere, so no redirect could."""
    chosen = form.cleaned_data
    try:
        _, text = tokens.issue(account.user, chosen["name"], [chosen["scope"]])
    except TooManyTokens:
        return _page(request, account, form=form, full=True, status=409)
    return _page(request, account, form=TokenForm(), text=text, status=201)


def _page(request: HttpRequest, account: Account, status: int, **more: Any) -> HttpResponse:
    context = {"page": "profile", "rows": tokens.live(account.user), "labels": LABELS.items(), "most": MOST, **more}
    return render(request, "people/tokens.html", {"longest_name": LONGEST_NAME, **context}, status=status)
