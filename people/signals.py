"""What follows a login and a logout. It is loaded wherever Django starts, so that it loads little before."""

from __future__ import annotations

from typing import Any

from allauth.account.signals import user_logged_in
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_out
from django.http import HttpRequest

from people.models import Account


def connect() -> None:
    user_logged_in.connect(_move_in, dispatch_uid="people.move_in")
    user_logged_out.connect(_leave, dispatch_uid="people.leave")


def _move_in(request: HttpRequest, user: User, **_: Any) -> None:
    """Only after a login as a visitor: the admin's logins do not send this signal."""
    from arena.visitors.cookies import visitor_of
    from people import accounts

    accounts.remember(request, accounts.enter(user, visitor_of(request)))


def _leave(request: HttpRequest, user: User | None, **_: Any) -> None:
    from people import accounts

    if user is not None and Account.objects.filter(user=user).exists():
        accounts.forget(request)
