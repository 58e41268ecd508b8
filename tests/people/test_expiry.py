"""Addresses that were never confirmed, ended logins and old mails in files are deleted every night."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.utils import timezone

from people.tasks import expire
from tests.people import moderator
from tests.people.conftest import ADDRESS, Person

pytestmark = pytest.mark.django_db
TWO_DAYS = timedelta(days=2)


def age_all() -> None:
    User.objects.update(date_joined=timezone.now() - TWO_DAYS)


def test_an_address_that_was_never_confirmed_is_forgotten_after_a_day(person: Person) -> None:
    person.page("/account/signup/", email="stranger@example.org")
    expire()
    assert User.objects.filter(email="stranger@example.org").exists()
    age_all()
    expire()
    assert not User.objects.exists()
    assert not EmailAddress.objects.exists()


def test_accounts_staff_and_users_with_a_password_stay(person: Person) -> None:
    person.sign_up()
    moderator()
    User.objects.create_user("somebody", password="long enough for a test")
    age_all()
    expire()
    assert set(User.objects.values_list("email", flat=True)) >= {ADDRESS}
    assert User.objects.count() == 3


def test_ended_logins_are_deleted(person: Person) -> None:
    person.sign_up()
    Session.objects.update(expire_date=timezone.now() - TWO_DAYS)
    expire()
    assert not Session.objects.exists()


def test_old_mails_in_files_are_deleted(settings: Any, tmp_path: Path) -> None:
    settings.EMAIL_FILE_PATH = str(tmp_path)
    for name in ("old.log", "new.log"):
        (tmp_path / name).write_text("To: ada@example.org\n")
    old = (timezone.now() - TWO_DAYS).timestamp()
    os.utime(tmp_path / "old.log", (old, old))
    expire()
    assert [file.name for file in tmp_path.iterdir()] == ["new.log"]
