"""Which servers the arena talks to: those of settings.TEXT["hosts"], and the one that runs beside it."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from django.conf import settings

EMBEDDED, EMBEDDED_QWEN = "embedded", "embedded-qwen"
"""In place of an address: a server beside the arena (texts.embedded), whose port is another after every start."""
BESIDE = {EMBEDDED: "embedded_url", EMBEDDED_QWEN: "embedded_qwen_url"}
"""The settings.TEXT that have their addresses."""


class AddressRefused(Exception):
    """The address is none, or its host is not allowed."""


def check_address(address: str) -> None:
    """Raises AddressRefused unless requests may go there. An allowed host without a port is allowed with every port."""
    if address in BESIDE:
        return
    parts = _split(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AddressRefused(f"{address!r} is no address such as http://gpu-1:8000/v1")
    if parts.username or parts.password:
        raise AddressRefused("an address holds no password: name the environment variable that holds the key")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    if not {parts.hostname, f"{_bracketed(parts.hostname)}:{port}"} & _allowed():
        known = ", ".join(sorted(_allowed())) or "none"
        raise AddressRefused(f"{parts.hostname}:{port} is not in ARENA_TEXT_HOSTS, which allows: {known}")


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise AddressRefused(f"{address!r} is no address: {error}") from None
    return parts


def _allowed() -> frozenset[str]:
    return frozenset(settings.TEXT["hosts"])


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
