"""The mail server of EMAIL_URL."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from vlaarena.mail import MailServer, server_of


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("smtp://mail", MailServer("mail", 25)),
        ("smtp+tls://ada:p%40ss@mail.example.org", MailServer("mail.example.org", 587, "ada", "p@ss", True)),
        ("smtps://mail:2465", MailServer("mail", 2465, is_tls=True)),
    ],
)
def test_a_url_names_server_login_and_encryption(url: str, server: MailServer) -> None:
    assert server_of(url) == server


@pytest.mark.parametrize(
    "url", ["mail.example.org", "https://mail", "smtp://", "smtp://mail:port", "smtp://a:b@mail:99999"]
)
def test_anything_else_is_refused_with_what_is_expected_and_without_the_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"expected smtp\+tls://") as refusal:
        server_of(url)
    assert "a:b@mail" not in str(refusal.value)
