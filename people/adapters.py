"""How allauth works here: without passwords, without staff, and with our limits, mails and words."""

from __future__ import annotations

import secrets
from smtplib import SMTPException
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.utils import build_absolute_uri
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext, gettext_lazy

from arena.visitors.throttles import address_of
from people.models import VISITOR

SECOND_FACTOR = "allauth.mfa.stages.AuthenticateStage"
A_DAY_S = 24 * 3600


class AccountAdapter(DefaultAccountAdapter):
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "account_inactive": gettext_lazy("This account is blocked."),
        "email_taken": gettext_lazy("This address belongs to another account."),
        "duplicate_email": gettext_lazy("This is already your address."),
        "incorrect_code": gettext_lazy("This code is wrong."),
        "rate_limited": gettext_lazy("Too many attempts. Wait a little, then try again."),
        "same_as_current": gettext_lazy("This is already your address."),
        "too_many_login_attempts": gettext_lazy("Too many wrong codes. Ask for a new one."),
    }

    def populate_username(self, request: HttpRequest, user: User) -> None:
        """Not from the address, which only its owner should see."""
        user.username = f"{VISITOR}{secrets.token_hex(8)}"

    def pre_login(self, request: HttpRequest, user: User, **about: Any) -> HttpResponse | None:
        """Staff log in to the admin, with a password and a second factor, and nowhere else."""
        if user.is_staff or user.is_superuser:
            return HttpResponseRedirect(reverse("admin:login"))
        refusal: HttpResponse | None = super().pre_login(request, user, **about)
        return refusal

    def login(self, request: HttpRequest, user: User) -> None:
        super().login(request, user)
        request.session.set_expiry(settings.ACCOUNT_SESSION_DAYS * A_DAY_S)

    def get_login_stages(self) -> list[str]:
        """Without a second factor: a passkey is another way in, so that losing it locks nobody out."""
        return [stage for stage in super().get_login_stages() if stage != SECOND_FACTOR]

    def get_client_ip(self, request: HttpRequest) -> str:
        """The name of the address in the counters of limits: a keyed digest, as addresses are not stored."""
        return salted_hmac("people.rate", address_of(request)).hexdigest()[:24]

    def add_message(
        self, request: HttpRequest, level: int, *given: Any, message: str | None = None, **how: Any
    ) -> None:
        """Refusals only: a page says itself what was done."""
        if message:
            super().add_message(request, level, message=message)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        try:
            super().send_mail(template_prefix, email, context)
        except (SMTPException, OSError) as error:
            raise ImmediateHttpResponse(render(self.request, "people/no_mail.html", status=503)) from error

    def send_account_already_exists_mail(self, email: str) -> None:
        login_url = build_absolute_uri(self.request, reverse("account_login"))
        self.send_mail("account/email/account_already_exists", email, {"login_url": login_url})


class PasskeyAdapter(DefaultMFAAdapter):
    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": gettext_lazy("This passkey is not known here."),
        "unverified_email": gettext_lazy("Confirm your new address first."),
    }

    def _get_site_name(self) -> str:
        return "VLA Arena"

    def generate_authenticator_name(self, user: User, type: Any) -> str:
        return gettext("Passkey")

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        """As the browser's list of passkeys shows it: by the address, since the name is random."""
        return {**super().get_public_key_credential_user_entity(user), "display_name": user.email}
