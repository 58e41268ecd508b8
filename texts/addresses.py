"""Which servers the arena talks to: those of settings.TEXT["hosts"], and the one that runs beside it."""

from __future__ import annotations

from django.conf import settings

from arena.addresses import AddressRefused, Rule

__all__ = ["BESIDE", "EMBEDDED", "EMBEDDED_QWEN", "AddressRefused", "check_address"]
EMBEDDED, EMBEDDED_QWEN = "embedded", "embedded-qwen"
"""In place of an address: a server beside the arena (texts.embedded), whose port is another after every start."""
BESIDE = {EMBEDDED: "embedded_url", EMBEDDED_QWEN: "embedded_qwen_url"}
"""The settings.TEXT that have their addresses."""
RULE = Rule("ARENA_TEXT_HOSTS", {"http": 80, "https": 443}, "http://gpu-1:8000/v1")


def check_address(address: str) -> None:
    """Raises AddressRefused unless requests may go there. An allowed host without a port is allowed with every port."""
    if address not in BESIDE:
        RULE.check(address, settings.TEXT["hosts"])
