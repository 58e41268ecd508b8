"""What a new row is given: its public id, a secret, the id of the request that made it."""

from __future__ import annotations

import secrets

from structlog.contextvars import get_contextvars

from arena.ids import new_id


def _session_id() -> str:
    return new_id("sess")


def _battle_id() -> str:
    return new_id("battle")


def _turn_id() -> str:
    return new_id("turn")


def _episode_id() -> str:
    return new_id("ep")


def _vote_id() -> str:
    return new_id("vote")


def _secret() -> str:
    return secrets.token_hex(16)


def _request_id() -> str:
    return str(get_contextvars().get("request_id", ""))
