"""Which servers of others the arena talks to. Every kind that does so has its own setting of hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit


class AddressRefused(Exception):
    """The address is none, or its host is not allowed."""


@dataclass(frozen=True)
class Rule:
    """`setting`: the environment variable in which the hosts stand. `ports`: of each scheme that is spoken.

    `example`: an address as it should be.
    """

    setting: str
    ports: Mapping[str, int]
    example: str

    def check(self, address: str, hosts: Iterable[str]) -> None:
        """Raises AddressRefused unless requests may go there. A host without a port is allowed with every port."""
        parts = _split(address)
        if parts.scheme not in self.ports or not parts.hostname:
            raise AddressRefused(f"{address!r} is no address such as {self.example}")
        if parts.username or parts.password:
            raise AddressRefused("an address holds no password: name the environment variable that holds the key")
        allowed, port = frozenset(hosts), parts.port or self.ports[parts.scheme]
        if not {parts.hostname, f"{_bracketed(parts.hostname)}:{port}"} & allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise AddressRefused(f"{parts.hostname}:{port} is not in {self.setting}, which allows: {known}")


def _split(address: str) -> SplitResult:
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError as error:
        raise AddressRefused(f"{address!r} is no address: {error}") from None
    return parts


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
