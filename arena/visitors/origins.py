"""Whether a call or a socket comes from a page of this site, by the scheme, host and port that the browser sends."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from django.conf import settings

PORTS = {"http": 80, "https": 443}


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int


def is_own(source: str, *, secure: bool, host: str) -> bool:
    """Whether `source`, the header Origin or Referer, is of the site itself or of settings.CSRF_TRUSTED_ORIGINS.

    `secure`: the call came over TLS. `host`: its header Host. With ARENA_HTTPS the site's scheme is https, whatever the
    proxy says of this call.
    """
    found = read(source)
    if found is None:
        return False
    own = read(f"{'https' if settings.HTTPS or secure else 'http'}://{host}")
    return found == own or any(_is_trusted(found, trusted) for trusted in settings.CSRF_TRUSTED_ORIGINS)


def read(url: str) -> Origin | None:
    """Scheme, host and port of a URL. None for `null`, and for what a browser never sends as the origin of a page."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    return Origin(parts.scheme, parts.hostname, PORTS[parts.scheme] if port is None else port)


def _is_trusted(found: Origin, trusted: str) -> bool:
    """`https://*.example.org` trusts every subdomain, but not example.org itself, as Django's own check does."""
    wanted = read(trusted)
    if wanted is None or (found.scheme, found.port) != (wanted.scheme, wanted.port):
        return False
    return found.host == wanted.host or (wanted.host.startswith("*.") and found.host.endswith(wanted.host[1:]))
