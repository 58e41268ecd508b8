"""Accounts: made and entered by a code, without a password, and without any effect on the admin."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.core.cache import cache
from django.test import Client

from people.models import Account
from tests.people import moderator
from tests.people.conftest import ADDRESS, Person, account_of, newest_code

PAGES = ("/account/login/", "/account/signup/", "/account/signup/passkey/", "/profile/")


def test_a_visitor_signs_up_with_a_code_and_is_signed_in(person: Person) -> None:
    answer = person.sign_up()
    assert answer.redirect_chain[-1][0] == "/profile/"
    assert "Your profile" in answer.content.decode()
    user = account_of(person).user
    assert not user.has_usable_password()
    assert not user.is_staff
    assert "ada" not in user.username


def test_a_visitor_signs_in_again_with_another_code(person: Person) -> None:
    person.sign_up()
    person.sign_out()
    assert "You are not signed in" in person.page("/profile/").content.decode()
    assert "Your profile" in person.sign_in().content.decode()
    assert Account.objects.count() == 1


def test_a_code_is_for_one_browser_and_three_tries(person: Person) -> None:
    person.sign_up()
    person.sign_out()
    person.page("/account/login/", login=ADDRESS)
    code = newest_code(ADDRESS)
    stranger = Person()
    assert stranger.page("/account/login/code/", code=code).redirect_chain[-1][0].startswith("/account/login/")
    for _ in range(3):
        refused = person.page("/account/login/code/", code="BBBB-BBBB")
    assert "Too many wrong codes" in refused.content.decode()
    person.page("/account/login/code/", code=code)
    assert "You are not signed in" in person.page("/profile/").content.decode()


def test_nobody_learns_from_the_pages_whether_an_address_has_an_account(person: Person) -> None:
    person.sign_up()
    pages = []
    for address in (ADDRESS, "nobody@example.org"):
        for form in ({"login": address}, {"email": address}):
            page = "/account/login/" if "login" in form else "/account/signup/"
            answer = Client().post(page, form, follow=True)
            pages.append((answer.redirect_chain, _without_tokens(answer.content.decode().replace(address, "…"))))
    assert pages[0] == pages[2]
    assert pages[1] == pages[3]


def _without_tokens(page: str) -> str:
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page)


def test_a_second_sign_up_with_an_address_sends_a_mail_about_the_first(person: Person) -> None:
    person.sign_up()
    Person().page("/account/signup/", email=ADDRESS)
    assert "It already has one" in mail.outbox[-1].body
    assert "http://testserver/account/login/" in mail.outbox[-1].body
    assert User.objects.filter(email=ADDRESS).count() == 1


@pytest.mark.django_db
def test_staff_sign_in_at_the_admin_alone() -> None:
    user = moderator()
    User.objects.filter(pk=user.pk).update(email="staff@example.org")
    staff = Person(address="staff@example.org")
    assert "admin/login" in staff.sign_in().redirect_chain[-1][0]
    assert "_auth_user_id" not in staff.client.session
    assert not Account.objects.exists()


def test_the_admin_is_closed_to_visitors_with_an_account(person: Person) -> None:
    person.sign_up()
    assert "Log in" in person.page("/admin/").content.decode()
    assert person.client.get("/api/worker/aggregate").status_code != 200


@pytest.mark.django_db
def test_the_admins_login_works_beside_accounts_and_makes_none() -> None:
    moderator()
    client = Client()
    client.get("/admin/login/")
    answer = client.post("/admin/login/?next=/admin/", {"username": "moderator", "password": "moderator, long enough"})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert client.get("/admin/").status_code == 200
    assert "You are not signed in" in client.get("/profile/").content.decode()
    assert not Account.objects.exists()


def test_visitors_need_no_second_factor_where_staff_do(person: Person, settings: Any) -> None:
    settings.ADMIN_TOTP = "required"
    assert "Your profile" in person.sign_up().content.decode()


@pytest.mark.django_db
def test_without_accounts_their_pages_are_gone_and_so_is_the_link(settings: Any) -> None:
    assert "/account/login/" in Client().get("/").content.decode()
    settings.ACCOUNTS = False
    for page in PAGES:
        assert Client().get(page).status_code == 404, page
    assert "/account/" not in Client().get("/").content.decode()
    assert Client().get("/privacy/").status_code == 200
    assert Client().get("/your-data/").status_code == 200


def test_codes_are_limited_by_address(person: Person, settings: Any) -> None:
    person.sign_up()
    cache.clear()
    settings.ACCOUNT_RATE_LIMITS = {"request_login_code": "3/m/key"}
    sent = len(mail.outbox)
    for _ in range(5):
        last = Client().post("/account/login/", {"login": ADDRESS})
    assert len(mail.outbox) == sent + 3
    assert last.status_code in (200, 429)
    assert "Location" not in last


def test_one_network_cannot_try_many_addresses(person: Person, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"signup": "3/m/ip", "login": "3/m/ip"}
    for page, name in (("/account/signup/", "email"), ("/account/login/", "login")):
        answers = [Client().post(page, {name: f"{number}@example.org"}).status_code for number in range(5)]
        assert answers == [302, 302, 302, 429, 429], page


def test_counters_of_limits_hold_no_address(person: Person, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login": "3/m/ip"}
    keys: list[str] = []
    kept = cache.set
    monkeypatch.setattr(
        type(cache), "set", lambda self, key, *more: keys.append(key) or kept(key, *more), raising=False
    )
    Client().post("/account/login/", {"login": ADDRESS}, REMOTE_ADDR="203.0.113.7")
    assert "203.0.113.7" not in " ".join(keys)


def test_an_address_is_changed_by_a_code_sent_to_the_new_one(person: Person) -> None:
    person.sign_up()
    person.page("/account/address/", email="lovelace@example.org", action_add="")
    assert account_of(person).user.email == ADDRESS
    person.page("/account/confirm/", code=newest_code("lovelace@example.org"))
    assert User.objects.get().email == "lovelace@example.org"
    assert any(each.to == [ADDRESS] and "lovelace@example.org" in each.body for each in mail.outbox)


def test_a_blocked_account_stays_out(person: Person) -> None:
    person.sign_up()
    person.sign_out()
    User.objects.update(is_active=False)
    person.page("/account/login/", login=ADDRESS)
    assert "It has no account" in mail.outbox[-1].body
    assert "You are not signed in" in person.page("/profile/").content.decode()


def test_a_mail_server_that_fails_is_told(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.EmailMessage.send", fail)
    answer = person.page("/account/signup/", email=ADDRESS)
    assert answer.status_code == 503
    assert "We cannot send e-mail right now" in answer.content.decode()
