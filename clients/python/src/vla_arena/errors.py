"""What an arena refuses, by status; `code` is the stable word that says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Unreachable(Exception):
    """No answer, or one that is none of an arena."""


class ArenaError(Exception):
    """A refusal. `details`: the rest of its JSON, such as `known` for an unknown name."""

    def __init__(self, status: int, code: str, detail: str, details: Mapping[str, Any]) -> None:
        super().__init__(f"{code}: {detail}")
        self.status, self.code, self.detail, self.details = status, code, detail, details


class NotAllowed(ArenaError):
    """401 and 403: a token that is not valid, or has not the scope."""


class NotFound(ArenaError):
    """404 and 410: nothing there, or nothing that this caller may see."""


class Conflict(ArenaError):
    """409: not now, as `turn_running` or `already_voted`."""


class Invalid(ArenaError):
    """400, 413, 415 and 422: the call itself is wrong."""


class TooMany(ArenaError):
    """429, and 503 `queue_full`: come again after `retry_after_s`."""

    retry_after_s: float = 0.0


class Unavailable(ArenaError):
    """503: nothing was changed; send the call again later."""


OF_STATUS: Mapping[int, type[ArenaError]] = {
    400: Invalid,
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    410: NotFound,
    413: Invalid,
    415: Invalid,
    422: Invalid,
    429: TooMany,
    503: Unavailable,
}


def refusal(status: int, body: Mapping[str, Any], retry_after: str | None) -> ArenaError:
    code, detail = str(body.get("code", "")), str(body.get("detail", ""))
    kind = TooMany if code == "queue_full" else OF_STATUS.get(status, ArenaError)
    rest = {name: value for name, value in body.items() if name not in ("code", "detail")}
    error = kind(status, code, detail, rest)
    if isinstance(error, TooMany) and retry_after and retry_after.isdigit():
        error.retry_after_s = float(retry_after)
    return error
