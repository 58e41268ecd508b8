"""A line says what happened, and to what; what others wrote in it stays data."""

from __future__ import annotations

import json
import logging
import re
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured
from structlog.contextvars import bound_contextvars

from vlaarena import env
from vlaarena.monitoring import logs

HOSTILE = "stack\x1b[2J it\n2026-11-21 00:00:00,000 CRITICAL root: all is lost\r\u202eevil\u2028"
START_OF_A_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} [A-Z]+ [\w.]+: ")


def told(kind: str, message: str, *, error: bool = False, **extra: object) -> str:
    record = logging.LogRecord("arena.test", logging.WARNING, __file__, 1, message, (), None)
    if error:
        try:
            raise ValueError(HOSTILE)
        except ValueError:
            record.exc_info = sys.exc_info()
    record.__dict__.update(extra)
    return logs.formatter(kind).format(record)


def test_a_plain_line_says_when_how_bad_who_what_and_about_which_turn() -> None:
    with bound_contextvars(request_id="req_1", turn_id="turn_2"):
        line = told("plain", "it was played", ms=12.5)

    assert START_OF_A_LINE.match(line)
    assert line.endswith("WARNING arena.test: it was played request_id=req_1 turn_id=turn_2 ms=12.5")


def test_a_json_line_has_the_same_as_fields() -> None:
    with bound_contextvars(request_id="req_1"):
        line = json.loads(told("json", "it was played", ms=12.5))

    about = {name: line[name] for name in ("level", "logger", "event", "request_id", "ms")}
    assert about == {
        "level": "WARNING",
        "logger": "arena.test",
        "event": "it was played",
        "request_id": "req_1",
        "ms": 12.5,
    }
    assert next(iter(line)) == "timestamp"


@pytest.mark.parametrize("kind", logs.FORMATS)
def test_an_instruction_cannot_start_a_line_or_steer_a_terminal(kind: str) -> None:
    with bound_contextvars(policy=HOSTILE):
        line = told(kind, f"instruction: {HOSTILE}")

    assert "\n" not in line
    assert line.isprintable()
    assert "all is lost" in line


def test_nor_can_the_words_of_an_error() -> None:
    first, *below = told("plain", "it failed", error=True).split("\n")

    assert START_OF_A_LINE.match(first)
    assert any("ValueError" in line for line in below)
    assert all(line.startswith(logs.CONTINUED) and line.isprintable() for line in below)
    assert "\n" not in told("json", "it failed", error=True)


def test_what_django_adds_to_a_record_stays_out() -> None:
    line = json.loads(told("json", "Not Found", request=object(), status_code=404))

    assert {"request", "status_code"}.isdisjoint(line)


def test_an_unknown_format_names_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_LOG_FORMAT", "xml")

    with pytest.raises(ImproperlyConfigured, match="plain, json"):
        env.choice("ARENA_LOG_FORMAT", "plain", logs.FORMATS)
