"""Ports for the servers of a test run."""

from __future__ import annotations

import random
import socket

OURS = range(20_000, 32_000)
"""Below the ports that the system lends to outgoing connections: one of those may take a port between its choice and
its server's start, or while an arena that comes back to it is down."""
_draw = random.SystemRandom()


def free_port() -> int:
    """A loopback port that nobody listens on right now."""
    while True:
        port = _draw.choice(OURS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
