"""A second factor: set up with an app, asked for at the login, renewed, removed, and taken off for who lost it."""

from __future__ import annotations

import re
import time
from base64 import b32decode
from datetime import UTC, datetime
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django_otp.oath import hotp
from django_otp.plugins.otp_totp.models import TOTPDevice

from tests.people import operator

pytestmark = pytest.mark.django_db
PASSWORD = "operator, long enough"
PAGE, INDEX, LOGIN = "/admin/second-factor/", "/admin/", "/admin/login/"
AGGREGATE = "/api/worker/aggregate"


@pytest.fixture
def user() -> User:
    return operator()


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock of the devices: codes are good for half a minute, and a wrong one makes its device wait."""
    clock = [time.time()]
    at = SimpleNamespace(now=lambda: datetime.fromtimestamp(clock[0], UTC))
    monkeypatch.setattr("django_otp.plugins.otp_totp.models.time", SimpleNamespace(time=lambda: clock[0]))
    monkeypatch.setattr("django_otp.models.timezone", at)
    return clock


def log_in(code: str = "", client: Client | None = None) -> tuple[Client, Any]:
    client = client or Client()
    body = {"username": "operator", "password": PASSWORD, "code": code, "next": INDEX}
    return client, client.post(LOGIN, body)


def is_in(client: Client) -> bool:
    return bool(client.get(INDEX).status_code == 200)


def key_on(page: Any) -> bytes:
    found = re.search(r'<code id="key">([A-Z2-7 ]+)</code>', page.content.decode())
    assert found
    return b32decode(found[1].replace(" ", ""))


def codes_on(page: Any) -> list[str]:
    return re.findall(r"<li><code>([a-z2-7]+)</code></li>", page.content.decode())


class App:
    """An authenticator app that scanned the page's key."""

    def __init__(self, key: bytes, now: list[float]) -> None:
        self.key, self.now = key, now

    def next_code(self) -> str:
        """A code that was not used yet, half a minute later."""
        self.now[0] += 30
        return f"{hotp(self.key, int(self.now[0]) // 30):06d}"


@pytest.fixture
def enrolled(user: User, now: list[float]) -> tuple[App, list[str]]:
    """The app and the backup codes of an operator who has set it up."""
    client, _ = log_in()
    app = App(key_on(client.get(PAGE)), now)
    page = client.post(PAGE, {"code": app.next_code(), "enrol": "1"})
    return app, codes_on(page)


def test_setting_it_up_shows_a_key_as_a_picture_and_a_word_and_gives_ten_backup_codes(
    user: User, now: list[float]
) -> None:
    client, _ = log_in()
    page = client.get(PAGE)
    assert page["Cache-Control"].startswith("max-age=0, no-cache, no-store")
    assert "<svg" in page.content.decode()
    assert 'style="' not in page.content.decode()
    app = App(key_on(page), now)
    assert key_on(client.get(PAGE)) == app.key
    done = client.post(PAGE, {"code": app.next_code(), "enrol": "1"})
    assert len(set(codes_on(done))) == 10
    assert is_in(client)
    assert "key" not in re.findall(r'id="(\w+)"', client.get(PAGE).content.decode())


def test_a_wrong_code_sets_nothing_up(user: User, now: list[float]) -> None:
    client, _ = log_in()
    key_on(client.get(PAGE))
    refused = client.post(PAGE, {"code": "000000", "enrol": "1"})
    assert refused.status_code == 422
    assert "not right" in refused.content.decode()
    assert not TOTPDevice.objects.filter(confirmed=True).exists()
    assert is_in(log_in()[0])


def test_a_password_alone_logs_nobody_in_once_it_is_set_up(user: User, enrolled: tuple[App, list[str]]) -> None:
    app, _ = enrolled
    for code in ("", "123456", "abcdefgh"):
        client, page = log_in(code)
        assert page.status_code == 200
        assert "code is not right" in page.content.decode()
        assert not is_in(client)
    app.now[0] += 60  # after wrong codes a device makes one wait
    client, page = log_in(app.next_code())
    assert page.status_code == 302
    assert is_in(client)


def test_a_code_is_good_once(user: User, enrolled: tuple[App, list[str]]) -> None:
    app, codes = enrolled
    code = app.next_code()
    assert is_in(log_in(code)[0])
    assert not is_in(log_in(code)[0])
    assert is_in(log_in(codes[0])[0])
    assert not is_in(log_in(codes[0])[0])


def test_a_session_from_before_it_was_set_up_is_worth_nothing_after(user: User, now: list[float]) -> None:
    before, _ = log_in()
    other, _ = log_in()
    app = App(key_on(other.get(PAGE)), now)
    other.post(PAGE, {"code": app.next_code(), "enrol": "1"})
    assert is_in(other)
    assert not is_in(before)
    assert before.post(AGGREGATE).status_code == 403
    assert before.get(PAGE).status_code == 302
    assert before.post(PAGE, {"code": "000000", "remove": "1"}).status_code == 302
    assert other.post(AGGREGATE).status_code == 200


def test_where_it_is_required_a_password_leads_to_setting_it_up_and_nowhere_else(
    user: User, now: list[float], settings: Any
) -> None:
    settings.ADMIN_TOTP = "required"
    client, _ = log_in()
    assert not is_in(client)
    assert client.post(AGGREGATE).status_code == 403
    assert client.get(LOGIN)["Location"] == PAGE
    app = App(key_on(client.get(PAGE)), now)
    client.post(PAGE, {"code": app.next_code(), "enrol": "1"})
    assert is_in(client)
    assert client.post(AGGREGATE).status_code == 200


def test_backup_codes_are_renewed_and_it_is_removed_with_a_current_code(
    user: User, enrolled: tuple[App, list[str]]
) -> None:
    app, codes = enrolled
    client, _ = log_in(app.next_code())
    assert client.post(PAGE, {"code": "999999", "remove": "1"}).status_code == 422
    app.now[0] += 60
    renewed = codes_on(client.post(PAGE, {"code": app.next_code(), "renew": "1"}))
    assert len(renewed) == 10
    assert not set(renewed) & set(codes)
    assert client.post(PAGE, {"code": renewed[0], "remove": "1"}).status_code == 302
    assert is_in(log_in()[0])


def test_who_is_locked_out_gets_new_codes_or_is_let_in_by_a_command(
    user: User, enrolled: tuple[App, list[str]]
) -> None:
    out = StringIO()
    call_command("second_factor", "operator", "--codes", stdout=out)
    assert is_in(log_in(out.getvalue().split()[-1])[0])
    call_command("second_factor", "operator", "--remove", stdout=out)
    assert "password alone" in out.getvalue()
    assert is_in(log_in()[0])
    with pytest.raises(CommandError, match="no second factor"):
        call_command("second_factor", "operator", "--codes")
    with pytest.raises(CommandError, match="accounts of the staff: operator"):
        call_command("second_factor", "oprator")


def test_nobody_sees_the_keys_of_others_in_the_admin(user: User) -> None:
    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    page = root.get(INDEX).content.decode().lower()
    assert "totp" not in page
    assert "static device" not in page


def test_the_page_is_for_those_who_log_in(client: Client) -> None:
    assert client.get(PAGE)["Location"].startswith(LOGIN)
    client.force_login(User.objects.create_user("visitor"))
    assert client.get(PAGE)["Location"].startswith(LOGIN)


def test_another_sites_page_can_remove_nothing(user: User) -> None:
    careful = Client(enforce_csrf_checks=True)
    careful.force_login(user)
    assert careful.post(PAGE, {"code": "1", "remove": "1"}).status_code == 403


@pytest.fixture
def limits(settings: Any) -> None:
    settings.RATE_LIMITS = {"logins": {"address": ((5, 60),), "account": ((3, 60),)}}


def test_attempts_to_log_in_run_out_for_an_account_and_for_an_address(user: User, limits: None) -> None:
    for _ in range(3):
        assert Client().post(LOGIN, {"username": "operator", "password": "guess"}).status_code == 200
    client, refused = log_in()
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) > 0
    assert "from one account" in refused.content.decode()
    assert not is_in(client)
    assert Client().post(LOGIN, {"username": "Operator", "password": "guess"}).status_code == 429
    for _ in range(2):
        assert Client().post(LOGIN, {"username": "other", "password": "guess"}).status_code == 200
    assert "from one address" in Client().post(LOGIN, {"username": "third"}).content.decode()
