"""Whose account a caller is logged in to, and what moves into it at a login."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import HttpRequest

from arena.actions import owners
from arena.models import row_or_none
from arena.visitors.cookies import is_granted, new_visitor, visitor_of
from people.models import Account
from rankings.moderation import identity


def account_of(request: HttpRequest) -> Account | None:
    """The account that the caller is logged in to. None for staff, who have none."""
    user: User | AnonymousUser = request.user
    if not isinstance(user, User) and not user.is_authenticated:
        return None
    return row_or_none(Account.objects.select_related("user").filter(user_id=user.pk))


def acting_account(request: HttpRequest) -> Account | None:
    """The account that the call acts for: that of its token, else the one that the caller is logged in to."""
    if is_granted(request):
        return row_or_none(Account.objects.select_related("user").filter(visitor=visitor_of(request) or ""))
    return account_of(request)


def has_account(visitor: str) -> bool:
    return Account.objects.filter(visitor=visitor).exists()


@transaction.atomic
def enter(user: User, visitor: str | None) -> Account:
    """The user's account, with what the cookie's visitor has played moved into it.

    A new account takes the visitor's id, so that nothing needs to move. A visitor who is another account's stays there.
    """
    free = visitor if visitor and not has_account(visitor) else None
    account, is_new = Account.objects.get_or_create(user=user, defaults={"visitor": free or new_visitor()})
    if free and not is_new:
        move_in(free, account)
    return account


@transaction.atomic
def move_in(visitor: str, account: Account) -> None:
    """Make sessions and votes of this visitor the account's, which is the only voter from then on."""
    owners.move_sessions(visitor, account.visitor)
    identity.rename_voter(visitor, account.visitor, moved=True)


def heal_cookie(request: HttpRequest, account: Account) -> None:
    """Take in what an open tab has played under another cookie since the login, and give it the account's."""
    visitor = visitor_of(request)
    if visitor != account.visitor:
        enter(account.user, visitor)
        remember(request, account)


def remember(request: HttpRequest, account: Account) -> None:
    """Let the response set the account's cookie (`people.middleware`)."""
    request.new_visitor = account.visitor  # type: ignore[attr-defined]


def forget(request: HttpRequest) -> None:
    """Let the response delete the cookie: the next battle is that of a new, anonymous visitor."""
    request.new_visitor = None  # type: ignore[attr-defined]
