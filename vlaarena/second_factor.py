"""A second factor for those who log in: codes of an authenticator app (TOTP), and backup codes for when it is lost.

settings.ADMIN_TOTP: "optional", whoever has set it up is asked for it; "required", nobody is in without. The rule holds
everywhere, admin and API: who still owes the second factor is a stranger to every view.
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
    """Middleware behind django_otp's own: takes from a request the user who owes a second factor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        by_password = request.user
        request.by_password = by_password  # type: ignore[attr-defined]
        # Read when a view asks: a page that asks for nobody neither reads the session nor varies by its cookie.
        request.user = SimpleLazyObject(lambda: AnonymousUser() if owes(by_password) else by_password)  # type: ignore[assignment]
        return self.get_response(request)


def owes(user: User | AnonymousUser) -> bool:
    """Whether somebody gave a password and owes the second factor."""
    if not user.is_authenticated or user.is_verified():  # type: ignore[attr-defined]
        return False
    return settings.ADMIN_TOTP == "required" or is_enrolled(user)


def is_enrolled(user: User) -> bool:
    return bool(TOTPDevice.objects.filter(user=user, confirmed=True).exists())


def who_gave_a_password(request: HttpRequest) -> User | None:
    user: User | AnonymousUser = request.by_password  # type: ignore[attr-defined]
    return user if isinstance(user, User) else None


def must_enrol(request: HttpRequest) -> bool:
    """Whether somebody logged in by a password alone, and has nothing yet to log in with in full."""
    user = who_gave_a_password(request)
    return user is not None and owes(user) and not is_enrolled(user)


@transaction.atomic
def verify(user: User, code: str) -> Device | None:
    """The device that gave this code: the app for six digits, else the backup codes, each good once.

    A wrong code makes the device wait before it tries another, twice as long each time.
    """
    code = "".join(code.split()).lower()
    model = TOTPDevice if len(code) == 6 and code.isdecimal() else StaticDevice
    for device in model.objects.select_for_update().filter(user=user, confirmed=True):
        if device.verify_token(code):
            found: Device = device
            return found
    return None


def pending_device(user: User) -> TOTPDevice:
    """The device that is being set up; its key stays the same until a code of it was typed in."""
    device, _ = TOTPDevice.objects.get_or_create(user=user, confirmed=False, defaults={"name": "authenticator"})
    return device


@transaction.atomic
def enrol(request: HttpRequest, user: User, code: str) -> list[str] | None:
    """Take the pending device into use if the code is its own, and log in with it; the backup codes, or None."""
    device = TOTPDevice.objects.select_for_update().filter(user=user, confirmed=False).first()
    if device is None or not device.verify_token(code):
        return None
    device.confirmed = True
    device.save(update_fields=["confirmed"])
    request.user = user
    request.session.cycle_key()  # what was known before is worth less than what is known now
    django_otp.login(request, device)
    return new_backup_codes(user)


@transaction.atomic
def new_backup_codes(user: User) -> list[str]:
    """Fresh codes in place of all earlier ones."""
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="backup codes")
    codes = [StaticToken.random_token() for _ in range(BACKUP_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=device, token=code) for code in codes)
    return codes


@transaction.atomic
def remove(user: User) -> bool:
    """Forget everything of the second factor; False when there was nothing."""
    removed, _ = TOTPDevice.objects.filter(user=user).delete()
    return bool(removed) | bool(StaticDevice.objects.filter(user=user).delete()[0])


def key_in_words(device: TOTPDevice) -> str:
    """The key as authenticator apps take it by hand: base32, in groups of four."""
    text = b32encode(device.bin_key).decode().rstrip("=")
    return " ".join(text[place : place + 4] for place in range(0, len(text), 4))
