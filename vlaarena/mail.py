"""The mail server that EMAIL_URL names."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}


class MailServer(NamedTuple):
    """`starts_tls`: the connection is encrypted after it is opened. `is_tls`: it is from the beginning."""

    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    starts_tls: bool = False
    is_tls: bool = False


def server_of(url: str) -> MailServer:
    """Such as `smtp+tls://user:password@mail.example.org:587`. Raises ImproperlyConfigured."""
    parts = urlsplit(url)
    try:
        port = parts.port or PORTS[parts.scheme]
    except (KeyError, ValueError):
        port = 0
    if not port or not parts.hostname:
        raise ImproperlyConfigured(
            "EMAIL_URL is not the address of a mail server; expected smtp+tls://user:password@host:587, "
            "smtps://user:password@host:465 or smtp://host:25"
        )
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(parts.hostname, port, user, password, parts.scheme == "smtp+tls", parts.scheme == "smtps")
