"""Checks before the arena serves the public (ARENA_HTTPS=yes): secrets that cannot be guessed, and no open access.

All problems are reported together, each with the name of its variable and the remedy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

KEY_LENGTH = 50
KEY_VARIETY = 30  # different pairs of neighbours: a random key of 50 digits has about 39, one of letters 49
PASSWORD_LENGTH = 12
PASSWORD_VARIETY = 6  # different characters
PLACEHOLDERS = ("change", "secret", "insecure", "example", "password", "passwort", "random", "placeholder", "qwerty")
MAKE_KEY = "make one: python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
MAKE_LOGIN = "make one: python3 -c 'import secrets; print(secrets.token_hex(16))'"
LOOPBACK = {"localhost", "127.0.0.1", "::1"}


@dataclass(frozen=True)
class AccessSettings:
    """The settings that decide on access. `servers`: variable -> URL."""

    secret_key: str | None
    """None if there is none yet: `refuse_built_in_secret` prevents serving without one."""
    debug: bool
    proxies: int
    hosts: list[str]
    origins: Mapping[str, list[str]]
    servers: Mapping[str, str]


def refuse_built_in_secret() -> None:
    """Raise ImproperlyConfigured if the site would sign cookies with the key that is public in the source."""
    if settings.SECRET_KEY == settings.BUILT_IN_SECRET_KEY:
        raise ImproperlyConfigured(
            "no secret key: set ARENA_SECRET_KEY to 50 random characters, or start with `manage.py up`, which makes one"
        )


def refuse_unsafe(access: AccessSettings) -> None:
    """Raise ImproperlyConfigured that lists every problem, if there is one."""
    if found := list(_problems(access)):
        raise ImproperlyConfigured(
            "ARENA_HTTPS=yes, but this is not safe:\n" + "\n".join(f"- {line}" for line in found)
        )


def _problems(access: AccessSettings) -> Iterator[str]:
    if access.debug:
        yield "ARENA_DEBUG shows settings and source to visitors: leave it out"
    if access.proxies < 1:
        yield "ARENA_PROXIES is 0: TLS ends at a proxy, and only then is its X-Forwarded-Proto believed; say how many"
    if access.secret_key is not None and (weakness := weak_key(access.secret_key)):
        yield f"ARENA_SECRET_KEY {weakness}; {MAKE_KEY}"
    yield from _open_hosts(access.hosts)
    for name, origins in access.origins.items():
        yield from _open_origins(name, origins)
    for name, url in access.servers.items():
        if weakness := weak_login(url):
            yield f"{name}: {weakness}; {MAKE_LOGIN}"


def weak_key(key: str) -> str:
    """Why a key that signs cookies could be guessed; "" if it could not."""
    if len(key) < KEY_LENGTH:
        return f"has {len(key)} characters, at least {KEY_LENGTH} are needed"
    if word := _placeholder(key):
        return f"contains {word!r}, as a placeholder does"
    if len(set(itertools.pairwise(key))) < KEY_VARIETY:
        return "repeats itself"
    return ""


def weak_login(url: str) -> str:
    """Why the login in a server's URL could be guessed; "" if it could not. Loopback needs no login."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite" or (parts.hostname or "localhost") in LOOPBACK:
        return ""
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if not password:
        return f"no password for {parts.hostname}"
    if password == user or _placeholder(password):
        return f"the password for {parts.hostname} is its user's name or a placeholder"
    if len(password) < PASSWORD_LENGTH or len(set(password)) < PASSWORD_VARIETY:
        return f"the password for {parts.hostname} needs at least {PASSWORD_LENGTH} characters, not the same few"
    return ""


def _placeholder(text: str) -> str:
    return next((word for word in PLACEHOLDERS if word in text.lower()), "")


def _open_hosts(hosts: Iterable[str]) -> Iterator[str]:
    if any(name.startswith("*") for name in hosts):
        yield "ARENA_HOSTS accepts any name: list the names of the site, comma-separated"
    for name in hosts:
        if name.startswith("."):
            site = name.lstrip(".")
            yield f"ARENA_HOSTS: {name!r} accepts every name under {site}: list the site's names, for example {site}"
    if not any(name.strip("[]") not in LOOPBACK for name in hosts):
        yield "ARENA_HOSTS names no public host: add the public name of the site"


def _open_origins(name: str, origins: Iterable[str]) -> Iterator[str]:
    for origin in origins:
        parts = urlsplit(origin)
        if parts.scheme != "https" or "*" in origin or not parts.hostname:
            yield f"{name}: {origin!r} is not a single HTTPS origin; expected for example https://arena.example.org"
