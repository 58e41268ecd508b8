"""Log lines, for people (`plain`) or for programs (`json`), with the ids of request, task, battle and turn.

Text from outside, instructions and addresses included, is escaped: it can neither start a line nor colour a terminal.
"""

from __future__ import annotations

import json
import logging
from collections.abc import MutableMapping
from datetime import UTC, datetime
from typing import Any

from structlog.contextvars import merge_contextvars
from structlog.processors import ExceptionRenderer, JSONRenderer
from structlog.stdlib import ExtraAdder, ProcessorFormatter

FORMATS = ("plain", "json")
FIRST = ("timestamp", "level", "logger", "pid", "event")
IDS = ("request_id", "task_id", "battle_id", "turn_id", "episode_id", "policy")
LAST = ("exception", "stack_info")
IN_MESSAGE = ("route", "status", "method")
"""Fields of a request's line that its message repeats; plain lines omit them."""
FIELDS = ("ms", "route", "status", "method", "code")
"""Fields that a call may add by `extra`. Django adds whole requests, which are left out."""
CONTINUED = "  | "
PROBES = ("/api/health", "/metrics")

Event = MutableMapping[str, Any]


class Newsworthy(logging.Filter):
    """Drops Django's line about a 503 of a health endpoint: its caller received the answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return not is_probe(getattr(request, "path", ""))


class Brief(logging.Filter):
    """Drops the traceback of a request that Django refused as suspicious, and keeps the line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info = record.exc_text = None
        return True


def is_probe(path: str) -> bool:
    """Whether monitoring requests this path all the time."""
    return path.startswith(PROBES)


def formatter(kind: str) -> ProcessorFormatter:
    """A formatter for `logging`; `kind` is one of FORMATS."""
    render = JSONRenderer() if kind == "json" else plain
    return ProcessorFormatter(
        foreign_pre_chain=[merge_contextvars, ExtraAdder(allow=FIELDS), _about_record],
        processors=[ProcessorFormatter.remove_processors_meta, ExceptionRenderer(), _in_order, render],
    )


def settings_for(kind: str, level: str) -> dict[str, Any]:
    """The setting LOGGING: everything goes to the error stream of the process."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"arena": {"()": formatter, "kind": kind}},
        "filters": {"newsworthy": {"()": Newsworthy}, "brief": {"()": Brief}},
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "arena", "filters": ["newsworthy", "brief"]}
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {"OpenGL": {"level": "WARNING"}},  # its INFO lines list every accelerator that is missing
    }


def plain(logger: Any, method: str, event: Event) -> str:
    """A line like `2026-11-21 17:25:58,123 INFO robots.play: message turn_id=turn_9f2c...`, with a traceback below."""
    at = datetime.fromisoformat(event["timestamp"])
    fields = [f"{name}={_value(event[name])}" for name in event if name not in (*FIRST, *LAST, *IN_MESSAGE)]
    message = " ".join([escaped(str(event["event"])), *fields])
    head = f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d} {event['level']} {event['logger']}: {message}"
    below = [line for name in LAST for line in str(event.get(name, "")).splitlines()]
    return "\n".join([head, *(CONTINUED + escaped(line) for line in below)])


def escaped(text: str) -> str:
    """The text on one line: control and invisible characters such as `\\n`, `\\x1b` and `\\u202e` are spelt out."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _value(value: object) -> str:
    text = str(value)
    plain_word = text.isprintable() and text and not set(text) & set(' "=')
    return text if plain_word else json.dumps(escaped(text), ensure_ascii=False)


def _about_record(logger: Any, method: str, event: Event) -> Event:
    record: logging.LogRecord = event["_record"]
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
    return {**event, "timestamp": at, "level": record.levelname, "logger": record.name, "pid": record.process}


def _in_order(logger: Any, method: str, event: Event) -> Event:
    rest = [name for name in event if name not in (*FIRST, *IDS, *LAST)]
    return {name: event[name] for name in (*FIRST, *IDS, *rest, *LAST) if name in event}
