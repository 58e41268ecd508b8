"""Whether a page of ours asks: scheme, host and port of where the browser says that a call or a socket comes from."""

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

    `secure`: the call came under TLS; `host`: its header Host, with the port where it names one. With ARENA_HTTPS the
    site has no other scheme than https, whatever the proxy says of this call.
    """
    found = read(source)
    if found is None:
        return False
    own = read(f"{'https' if settings.HTTPS or secure else 'http'}://{host}")
    return found == own or any(_is_trusted(found, trusted) for trusted in settings.CSRF_TRUSTED_ORIGINS)


def read(url: str) -> Origin | None:
    """Scheme, host and port of a URL; None for `null` and for whatever else a browser would not say of a page."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in PORTS or not parts.hostname or "@" in parts.netloc:
        return None
    return Origin(parts.scheme, parts.hostname, PORTS[parts.scheme] if port is None else port)


def _is_trusted(found: Origin, trusted: str) -> bool:
    """`https://*.example.org` trusts every name under it, as Django's own check does; not example.org itself."""
    wanted = read(trusted)
    if wanted is None or (found.scheme, found.port) != (wanted.scheme, wanted.port):
        return False
    return found.host == wanted.host or (wanted.host.startswith("*.") and found.host.endswith(wanted.host[1:]))
