"""Which policy servers the arena talks to: settings.POLICY_HOSTS, of the variable ARENA_POLICY_HOSTS."""

from __future__ import annotations

from django.conf import settings

from arena.addresses import Rule

RULE = Rule("ARENA_POLICY_HOSTS", {"ws": 80, "wss": 443}, "ws://gpu-3:8000")


def check_address(address: str) -> None:
    """Raises AddressRefused unless policies may be asked there."""
    RULE.check(address, settings.POLICY_HOSTS)
