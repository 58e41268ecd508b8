"""A visitor who plays and has an account."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core import mail
from django.http import HttpResponse

from people.models import Account
from tests.arena.conftest import Visitor, _own_channel_layer, contestants, runtime  # noqa: F401 - fixtures

ADDRESS = "ada@example.org"


@dataclass
class Person(Visitor):
    """A browser in which somebody plays, and signs in."""

    address: str = ADDRESS
    answers: list[HttpResponse] = field(default_factory=list)

    def page(self, address: str, **form: Any) -> HttpResponse:
        """What the address answers in the end: to a form if there are fields."""
        return self.client.post(address, form, follow=True) if form else self.client.get(address, follow=True)

    def sign_up(self) -> HttpResponse:
        self.page("/account/signup/", email=self.address)
        return self.page("/account/confirm/", code=newest_code(self.address))

    def sign_in(self) -> HttpResponse:
        self.page("/account/login/", login=self.address)
        return self.page("/account/login/code/", code=newest_code(self.address))

    def sign_out(self) -> HttpResponse:
        return self.client.post("/account/logout/", follow=True)

    @property
    def visitor_id(self) -> str | None:
        """As the cookie says."""
        from django.http import HttpRequest

        from arena.visitors.cookies import COOKIE, visitor_of

        request = HttpRequest()
        request.COOKIES = {COOKIE: self.client.cookies[COOKIE].value} if COOKIE in self.client.cookies else {}
        return visitor_of(request)


def newest_code(address: str) -> str:
    """The code in the last mail to this address."""
    text = next(str(each.body) for each in reversed(mail.outbox) if each.to == [address])
    found = re.search(r"^[A-Z]{4}-[A-Z]{4}$", text, re.MULTILINE)
    assert found, text
    return found[0]


def account_of(person: Person) -> Account:
    return Account.objects.select_related("user").get(user__email=person.address)


@pytest.fixture
def person(contestants: list[Any]) -> Person:  # noqa: F811
    return Person()
