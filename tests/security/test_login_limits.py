"""The limit of an account counts the account that the login form looks up, however its name is typed."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from vlaarena.login_limits import account_of
from vlaarena.second_factor_pages import LoginForm

pytestmark = pytest.mark.django_db
NAME, PASSWORD = "operator", "a long phrase of words"
FULLWIDTH = "".join(chr(ord(letter) + 0xFEE0) for letter in NAME)
CIRCLED = "".join(chr(ord(letter) - ord("a") + 0x24D0) for letter in NAME)
BOLD = "".join(chr(ord(letter) - ord("a") + 0x1D41A) for letter in NAME)
SPELLINGS = [
    NAME,
    *(f"{space}{NAME}" for space in (" ", "  ", "\t", "\n", "\r\n", "\x0b", "\u00a0", "\u2003", "\u3000", "\u2028")),
    *(f"{NAME}{space}" for space in (" ", "\t", "\u00a0", "\u2009", "\u205f")),
    f" {NAME} ",
    " " * 160 + NAME,
    FULLWIDTH,
    CIRCLED,
    BOLD,
    f"{NAME[:-1]}\uff52",
    f"\u00ba{NAME[1:]}",
    f"\u3000{BOLD[:4]}{FULLWIDTH[4:]}\t",
    "".join(letter for pair in zip(NAME[::2], FULLWIDTH[1::2], strict=True) for letter in pair),
]


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser(NAME, password=PASSWORD)


@pytest.fixture
def limits(settings: Any) -> None:
    settings.RATE_LIMITS = {"logins": {"account": ((3, 60),)}}


def log_in(name: str, password: str) -> int:
    return Client().post(reverse("admin:login"), {"username": name, "password": password}).status_code


def test_twenty_five_spellings_all_reach_the_account_and_share_its_limit(user: User, limits: None) -> None:
    assert len(set(SPELLINGS)) == 25
    for spelling in SPELLINGS:
        form = LoginForm(data={"username": spelling, "password": PASSWORD})
        assert form.is_valid(), ascii(spelling)
        assert form.get_user() == user, ascii(spelling)
    told = [log_in(spelling, "a guess") for spelling in SPELLINGS]
    assert told == [200] * 3 + [429] * 22


def test_names_that_a_database_may_compare_without_case_share_a_limit() -> None:
    assert len({account_of(name) for name in ("operator", "Operator", "OPERATOR", "\uff2fperator")}) == 1
    assert account_of("Stra\u00dfe") == account_of("STRASSE")


def test_other_accounts_have_limits_of_their_own(user: User, limits: None) -> None:
    assert [log_in(NAME, "a guess") for _ in range(4)] == [200, 200, 200, 429]
    assert log_in("operator2", "a guess") == 200
    assert log_in("opera tor", "a guess") == 200


def test_names_that_are_none_are_counted_too(limits: None) -> None:
    for typed in ("", "\0", "x" * 100_000, "\ufdfa" * 150):
        assert len(account_of(typed)) < 5000
    assert [log_in("x" * 100_000, "a guess") for _ in range(4)] == [200, 200, 200, 429]
