"""Public ids: a prefix that says what it names, and 128 random bits that nobody can guess."""

from __future__ import annotations

import secrets


def new_id(prefix: str) -> str:
    """`new_id("turn")` -> `turn_9f2c...`; the prefix is one of sess, battle, turn, ep, vote, study, req."""
    return f"{prefix}_{secrets.token_hex(16)}"
