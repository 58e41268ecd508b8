"""Which servers the arena talks to: those of settings.TEXT["hosts"], and the one that runs beside it."""

from __future__ import annotations

from django.conf import settings

from arena.addresses import AddressRefused, Rule

__all__ = ["EMBEDDED", "AddressRefused", "check_address"]
EMBEDDED = "embedded"
"""In place of an address: the server beside the arena (texts.embedded), whose port is another after every start."""
RULE = Rule("ARENA_TEXT_HOSTS", {"http": 80, "https": 443}, "http://gpu-1:8000/v1")


def check_address(address: str) -> None:
    """Raises AddressRefused unless requests may go there. An allowed host without a port is allowed with every port."""
    if address != EMBEDDED:
        RULE.check(address, settings.TEXT["hosts"])
