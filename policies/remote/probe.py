"""Which servers answer. A policy whose server does not is unavailable, and comes back by itself.

What is told of it is public, so it names no address and repeats nothing that a server says.
"""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor

from arena.models import ContestantStatus
from policies.base import PolicyCard, PolicyError
from policies.models import Policy
from policies.registry import REMOTE
from policies.remote.errors import RemoteError
from policies.remote.policy import open_card

log = logging.getLogger(__name__)
ASKED_AT_ONCE = 16
SERVER_TROUBLE = "server: "
"""Prefix of the reasons that are noted and taken back here. A moderator's reason stays."""


def check_all() -> int:
    """Ask the servers of all remote policies that are not retired. Answers how many do not answer as they should."""
    rows = list(Policy.objects.filter(adapter=REMOTE).exclude(status=ContestantStatus.RETIRED))
    with ThreadPoolExecutor(ASKED_AT_ONCE) as pool:
        found = list(pool.map(_trouble, rows))
    return sum(not _note(row, trouble) for row, trouble in zip(rows, found, strict=True))


def _note(policy: Policy, trouble: str) -> bool:
    """Change the status according to what is wrong, "" for nothing. Answers whether all is well."""
    policy.refresh_from_db(fields=["status", "status_reason"])
    noted = policy.status == ContestantStatus.UNAVAILABLE and policy.status_reason.startswith(SERVER_TROUBLE)
    if trouble and policy.status == ContestantStatus.ACTIVE:
        log.warning("%s is unavailable: %s", policy.pk, trouble)
        policy.mark_unavailable(SERVER_TROUBLE + trouble)
    elif not trouble and noted:
        log.info("%s is available again", policy.pk)
        policy.activate()
    return not trouble


def _trouble(policy: Policy) -> str:
    try:
        remote = open_card(PolicyCard.from_json(policy.card))
    except PolicyError as error:
        log.warning("%s: %s", policy.pk, error)
        return "its card cannot be used"
    try:
        remote.greet()
    except RemoteError as error:
        log.warning("%s: %s%s", policy.pk, error, f": {error.words}" if error.words else "")
        return str(error)
    finally:
        remote.close()
    return ""
