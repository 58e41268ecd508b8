"""Recordings as JSON, with every float64 exact: Python writes the shortest text that reads back to the same bits."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

BASE64 = "$base64"
"""The only key of an object that stands for bytes."""
PRIVATE = ("session_id", "battle_seq_in_session", "created_at", "attempt")
"""Fields of a stored recording that would tell which battles one visitor started, and when."""


def to_json(document: Mapping[str, Any]) -> bytes:
    """A recording without its private fields. Raises ValueError for numbers that are not finite."""
    public = {name: value for name, value in document.items() if name not in PRIVATE}
    return json.dumps(public, default=_bytes_as_text, allow_nan=False, ensure_ascii=False, sort_keys=True).encode()


def of_json(content: bytes) -> dict[str, Any]:
    """Raises ValueError for what `to_json` did not write."""
    try:
        found = json.loads(content, object_hook=_bytes_of_text)
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(found, dict):
        raise ValueError("expected an object")
    return found


def _bytes_as_text(value: Any) -> dict[str, str]:
    if isinstance(value, bytes):
        return {BASE64: base64.b64encode(value).decode()}
    raise TypeError(f"a recording holds a {type(value).__name__}; expected what JSON has, or bytes")


def _bytes_of_text(found: dict[str, Any]) -> Any:
    if found.keys() != {BASE64}:
        return found
    try:
        return base64.b64decode(found[BASE64], validate=True)
    except (binascii.Error, TypeError) as error:
        raise ValueError(f"bad bytes: {error}") from None
