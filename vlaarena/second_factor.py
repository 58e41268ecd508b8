"""A second factor for logins: codes of an authenticator app (TOTP), and backup codes in case the app is lost.

settings.ADMIN_TOTP: "optional" requires it of accounts that have set it up, "required" of all. The rule holds for admin
and API: every view treats a user who has not given the second factor as anonymous.
"""

from __future__ import annotations

from base64 import b32encode
from collections.abc import Callable

import django_otp
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

BACKUP_CODES = 10


class SecondFactor:
    """Middleware after django_otp's own: makes the user anonymous who has not given a required second factor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        by_password = request.user
        request.by_password = by_password  # type: ignore[attr-defined]
        # Lazy: a page that does not use the user must neither read the session nor vary by its cookie.
        request.user = SimpleLazyObject(lambda: AnonymousUser() if owes(by_password) else by_password)  # type: ignore[assignment]
        return self.get_response(request)


def owes(user: User | AnonymousUser) -> bool:
    """Whether the user gave a password but not the required second factor. Visitors with an account have neither."""
    if not user.is_authenticated or user.is_verified():  # type: ignore[attr-defined]
        return False
    if not user.is_staff and not user.has_usable_password():
        return False
    return settings.ADMIN_TOTP == "required" or is_enrolled(user)


def is_enrolled(user: User) -> bool:
    return bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())


def who_gave_a_password(request: HttpRequest) -> User | None:
    user: User | AnonymousUser = request.by_password  # type: ignore[attr-defined]
    return user if isinstance(user, User) else None


def must_enrol(request: HttpRequest) -> bool:
    """Whether the user logged in by password, and a second factor is required but not set up."""
    user = who_gave_a_password(request)
    return user is not None and owes(user) and not is_enrolled(user)


@transaction.atomic
def verify(user: User, code: str) -> Device | None:
    """The device that accepts this code: the app for six digits, else the backup codes, each valid once.

    A wrong code blocks the device for a time that doubles with each further one.
    """
    code = "".join(code.split()).lower()
    model = TOTPDevice if len(code) == 6 and code.isdecimal() else StaticDevice
    for device in model.objects.select_for_update().filter(user=user, confirmed=True):
        if device.verify_token(code):
            found: Device = device
            return found
    return None


def pending_device(user: User) -> TOTPDevice:
    """The device that is being set up. Its key stays the same until one of its codes is confirmed."""
    device, _ = TOTPDevice.objects.get_or_create(user=user, confirmed=False, defaults={"name": "authenticator"})
    return device


@transaction.atomic
def enrol(request: HttpRequest, user: User, code: str) -> list[str] | None:
    """Confirm the pending device by a code and log in with it. Returns new backup codes, or None for a wrong code."""
    device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=False).first()
    if device is None or not device.verify_token(code):
        return None
    device.confirmed = True
    device.save(update_fields=["confirmed"])
    request.user = user
    request.session.cycle_key()  # against session fixation: the login gains rights
    django_otp.login(request, device)
    return new_backup_codes(user)


@transaction.atomic
def new_backup_codes(user: User) -> list[str]:
    """Replace all backup codes by new ones, and return these."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="backup codes")
    codes = [StaticToken.random_token() for _ in range(BACKUP_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


@transaction.atomic
def remove(user: User) -> bool:
    """Delete all devices and backup codes. Returns whether there were any."""
    removed = [model.objects.filter(user=user).delete()[0] for model in (TOTPDevice, StaticDevice)]
    return any(removed)


def key_in_words(device: TOTPDevice) -> str:
    """The key for typing into an authenticator app: base32 in groups of four."""
    text = b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(text[place : place + 4] for place in range(0, len(text), 4))
