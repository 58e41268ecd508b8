"""The login form with a second factor, and the page to set it up, renew backup codes and remove it."""

from __future__ import annotations

from typing import Any

import qrcode
from django import forms
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_protect

from arena.errors import TooMany
from vlaarena import second_factor
from vlaarena.login_limits import count_attempt, too_many

WRONG = "This code is not right, was used already, or came too soon after a wrong one. Wait for the next one."


class CodeField(forms.CharField):
    def __init__(self, label: str, required: bool = True) -> None:
        typed = {"autocomplete": "one-time-code", "spellcheck": "false", "maxlength": "20"}
        super().__init__(label=label, required=required, max_length=20, widget=forms.TextInput(attrs=typed))


class LoginForm(AdminAuthenticationForm):
    code = CodeField("Code from your app, or a backup code (if you have set up a second factor)", required=False)

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean()
        user = self.get_user()
        if isinstance(user, User) and second_factor.is_enrolled(user):
            device = second_factor.verify(user, data.get("code", ""))
            if device is None:
                raise forms.ValidationError(WRONG, code="second_factor")
            user.otp_device = device  # type: ignore[attr-defined]  # django_otp writes it into the session
        return data


class CodeForm(forms.Form):
    code = CodeField("Code")


@never_cache
@csrf_protect
def second_factor_page(request: HttpRequest, site: AdminSite) -> HttpResponse:
    """The page of whoever logged in. A password is enough to set up a second factor, since there is none yet."""
    user = second_factor.who_gave_a_password(request)
    if user is None or not user.is_staff or (second_factor.owes(user) and second_factor.is_enrolled(user)):
        return HttpResponseRedirect(f"{reverse('admin:login')}?next={reverse('admin:second-factor')}")
    if request.method == "POST":
        return _act(request, site, user)
    return _show(request, site, user, CodeForm())


def _act(request: HttpRequest, site: AdminSite, user: User) -> HttpResponse:
    if "leave" in request.POST:
        logout(request)
        return HttpResponseRedirect(reverse("admin:login"))
    try:
        count_attempt(request, user.get_username())
    except TooMany as refusal:
        return too_many(request, site, refusal)
    form = CodeForm(request.POST)
    if not form.is_valid():
        return _show(request, site, user, form)
    code = form.cleaned_data["code"]
    if not second_factor.is_enrolled(user):
        codes = second_factor.enrol(request, user, code)
    elif second_factor.verify(user, code) is None:
        codes = None
    elif "remove" in request.POST:
        second_factor.remove(user)
        messages.success(request, "The second factor is removed.")
        return HttpResponseRedirect(reverse("admin:index"))
    else:
        codes = second_factor.new_backup_codes(user)
    if codes is None:
        form.add_error("code", WRONG)
    return _show(request, site, user, form, codes or [])


def _show(
    request: HttpRequest, site: AdminSite, user: User, form: CodeForm, codes: list[str] | None = None
) -> HttpResponse:
    context: dict[str, Any] = {
        **site.each_context(request),
        "title": "Second factor",
        "form": form,
        "codes": codes,
        "enrolled": second_factor.is_enrolled(user),
    }
    if not context["enrolled"]:
        device = second_factor.pending_device(user)
        context |= {"qr": _modules(device.config_url), "key": second_factor.key_in_words(device)}
    return TemplateResponse(request, "admin/second_factor.html", context, status=422 if form.errors else 200)


def _modules(text: str) -> dict[str, Any]:
    """A QR code as the path of an SVG: a unit square per dark module, in a square of `size`."""
    code = qrcode.QRCode(border=4)
    code.add_data(text)
    code.make(fit=True)
    rows = code.get_matrix()
    dark = [(x, y) for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark]
    return {"size": len(rows), "path": "".join(f"M{x},{y}h1v1h-1z" for x, y in dark)}
