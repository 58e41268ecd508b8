"""Defaults of columns: public ids, a secret, and the id of the current request. Migrations name them, too."""

from __future__ import annotations

import secrets
from functools import partial

from structlog.contextvars import get_contextvars

from arena.ids import new_id

_session_id = partial(new_id, "sess")
_battle_id = partial(new_id, "battle")
_turn_id = partial(new_id, "turn")
_episode_id = partial(new_id, "ep")
_vote_id = partial(new_id, "vote")
_secret = partial(secrets.token_hex, 16)


def _request_id() -> str:
    return str(get_contextvars().get("request_id", ""))
