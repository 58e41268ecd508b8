"""The address of a call's socket: another port than the pages', and a ticket that nobody can guess.

The ticket is signed and names the call and its try. So the socket needs no cookie, and a page of another site, which
cannot read the ticket, cannot open it.
"""

from __future__ import annotations

from typing import NamedTuple

from django.conf import settings
from django.core import signing

from voice.models import Call

SALT = "voice.call"
VALID_S = 3600
PATH = "/ws/voice/"


class Ticket(NamedTuple):
    call_id: int
    tries: int


def origin(host: str) -> str:
    """The scheme, host and port of the sockets, for a page of this host."""
    return str(settings.VOICE["url"]) or f"ws://{host}:{settings.VOICE['port']}"


def address(call: Call, host: str) -> str:
    ticket = signing.dumps({"call": call.pk, "tries": call.tries}, salt=SALT)
    return f"{origin(host)}{PATH}{ticket}"


def read(ticket: str) -> Ticket | None:
    """None for what is no ticket, or an old one."""
    try:
        said = signing.loads(ticket, salt=SALT, max_age=VALID_S)
    except signing.BadSignature:
        return None
    return Ticket(int(said["call"]), int(said["tries"]))
