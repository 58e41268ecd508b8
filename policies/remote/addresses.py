"""Which policy servers the arena talks to: settings.POLICY_HOSTS, of the variable ARENA_POLICY_HOSTS."""

from __future__ import annotations

from django.conf import settings

from arena.addresses import Rule

RULE = Rule(
    "ARENA_POLICY_HOSTS", {"ws": 80, "wss": 443, "http": 80, "https": 443}, "ws://gpu-3:8000 or http://gpu-3:8000/act"
)


def check_address(address: str) -> None:
    """Raises AddressRefused unless policies may be asked there."""
    RULE.check(address, settings.POLICY_HOSTS)
