"""How a remote policy can fail. The text of a failure names no host, no policy and none of the server's words."""

from __future__ import annotations

MOST_WORDS = 2000  # characters of what a server says that are kept


class RemoteError(Exception):
    """A server did not do as the protocol or its contract says.

    `words`: what the server said of it, for those who run it; never shown in a battle.
    """

    def __init__(self, what: str, words: str = "") -> None:
        super().__init__(what)
        self.words = words[:MOST_WORDS]


class ServerAway(RemoteError):
    """No connection could be made, or it was lost."""


class ServerLate(RemoteError):
    """The time was up."""


class ServerRefused(RemoteError):
    """The server said no: a wrong key, a redirect, an error of its own."""


class BadFrame(RemoteError):
    """A frame that is too large, of the wrong type, shape or coding, or holds numbers that are not finite."""


class ContractBroken(RemoteError):
    """The server declares something else than the card of the policy."""
