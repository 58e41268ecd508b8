"""The challenge to a network that has cast many votes today (settings.CHALLENGE): none, a proof of work, or a class of
yours with the methods of `Challenge`, such as a captcha. Exempt networks (`arena.visitors.networks`) get none.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC
from typing import Any, Protocol, cast

from django.conf import settings
from django.core import signing
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone
from django.utils.module_loading import import_string

from arena.errors import ChallengeRequired
from arena.models import Vote
from arena.visitors.networks import Address, digests_of

HEADER = "Challenge-Answer"
PROOF_OF_WORK = "proof-of-work"
SALT = "arena.challenge"
VALID_S = 300
LONGEST_ANSWER = 600


class Challenge(Protocol):
    """`network`: the digest of the caller's network. Both methods must be quick, since every vote of a busy network
    calls them. No answer is accepted twice."""

    def ask(self, network: str) -> dict[str, Any]:
        """The `challenge` in the error to the caller: JSON with a `kind`, and what is needed to find an answer."""

    def accepts(self, network: str, answer: str) -> bool:
        """Whether this header answers a challenge to this network."""


class ProofOfWork:
    """Asks for a counter that gives the SHA-256 so many leading zero bits. A browser needs about a second for 18."""

    def ask(self, network: str) -> dict[str, Any]:
        bits = int(settings.CHALLENGE_BITS)
        token = signing.dumps([network, bits, secrets.token_hex(8)], salt=SALT, compress=False)
        return {"kind": PROOF_OF_WORK, "token": token, "bits": bits, "expires_in_s": VALID_S}

    def accepts(self, network: str, answer: str) -> bool:
        token, _, counter = answer.rpartition(".")
        if len(answer) > LONGEST_ANSWER or not (counter.isascii() and counter.isdecimal()):
            return False
        try:
            asked_of, bits, nonce = signing.loads(token, salt=SALT, max_age=VALID_S)
        except (signing.BadSignature, ValueError):
            return False
        if asked_of != network or leading_zeros(answer) < bits:
            return False
        return bool(cache.add(f"arena:challenge:{nonce}", 1, timeout=VALID_S))  # False if another answer used it


def check(address: Address, answer: str) -> None:
    """Raises ChallengeRequired for a network with many votes today and no valid answer.

    Needs no query while challenges are off, two to four while they are on.
    """
    challenge = chosen()
    if challenge is None:
        return
    network = digests_of(address).network
    if not network or votes_today(network) <= settings.CHALLENGE_AFTER:
        return
    if not answer or not challenge.accepts(network, answer):
        raise ChallengeRequired(challenge=challenge.ask(network))


def votes_today(network: str) -> int:
    """The votes since midnight (UTC), as the rankings count days."""
    midnight = timezone.now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return Vote.objects.filter(network=network, voted_at__gte=midnight).count()


def chosen() -> Challenge | None:
    """The challenge that settings.CHALLENGE names. Raises ImproperlyConfigured if there is none of this name."""
    name = str(settings.CHALLENGE)
    if not name:
        return None
    if name == PROOF_OF_WORK:
        return ProofOfWork()
    try:
        made: Any = import_string(name)()
        if callable(made.ask) and callable(made.accepts):
            return cast(Challenge, made)
        reason = "its `ask` and `accepts` cannot be called"
    except (ImportError, AttributeError, TypeError) as error:
        reason = str(error)
    raise ImproperlyConfigured(
        f"ARENA_CHALLENGE={name!r}: {reason}; known are nothing, {PROOF_OF_WORK}, and the path of a class with the "
        "methods `ask` and `accepts`, such as lab.captcha.Captcha"
    )


def leading_zeros(answer: str) -> int:
    """The number of leading zero bits in the SHA-256 of this text."""
    digest = hashlib.sha256(answer.encode()).digest()
    return 256 - int.from_bytes(digest, "big").bit_length()
