"""Log lines, for people (`plain`) or for programs (`json`), with the ids of what they belong to.

Whatever others wrote, instructions and addresses included, is data here: it cannot start a line, nor colour a terminal.
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
"""Fields of a request's line that people read in its message."""
FIELDS = ("ms", "route", "status", "method", "code")
"""What a call may add to its line by `extra`; Django adds whole requests, which stay out."""
CONTINUED = "  | "

Event = MutableMapping[str, Any]


def formatter(kind: str) -> ProcessorFormatter:
    """For `logging`: one of FORMATS."""
    render = JSONRenderer() if kind == "json" else plain
    return ProcessorFormatter(
        foreign_pre_chain=[merge_contextvars, ExtraAdder(allow=FIELDS), _about_record],
        processors=[ProcessorFormatter.remove_processors_meta, ExceptionRenderer(), _in_order, render],
    )


def settings_for(kind: str, level: str) -> dict[str, Any]:
    """`LOGGING` of the settings: everything goes to the error stream of its process."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"arena": {"()": formatter, "kind": kind}},
        "filters": {
            "newsworthy": {"()": "vlaarena.log_filters.Newsworthy"},
            "brief": {"()": "vlaarena.log_filters.Brief"},
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "arena", "filters": ["newsworthy", "brief"]}
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {"OpenGL": {"level": "WARNING"}},  # it tells of each accelerator it does without
    }


def plain(logger: Any, method: str, event: Event) -> str:
    """`2026-11-21 17:25:58,123 INFO robots.play: what happened turn_id=turn_9f2c...`, and a traceback below it."""
    at = datetime.fromisoformat(event["timestamp"])
    fields = [f"{name}={_value(event[name])}" for name in event if name not in (*FIRST, *LAST, *IN_MESSAGE)]
    told = " ".join([escaped(str(event["event"])), *fields])
    head = f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03d} {event['level']} {event['logger']}: {told}"
    below = [line for name in LAST for line in str(event.get(name, "")).splitlines()]
    return "\n".join([head, *(CONTINUED + escaped(line) for line in below)])


def escaped(text: str) -> str:
    """The text on one line, without what steers a terminal or hides in it: `\\n`, `\\x1b`, `\\u202e` are spelt out."""
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
