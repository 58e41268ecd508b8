"""`make load` measures across a full hour, counts a turn from its sending, and fails where a target is missed."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.conf import settings

from rankings.publication.aggregation import PUBLISHED
from scripts.load_targets import AFTER_HOUR_S, BEFORE_HOUR_S, missed, published, troubles, until_the_start
from vlaarena.monitoring.logs import formatter

HOUR = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("minute", range(0, 60, 7))
@pytest.mark.parametrize(("ramp_s", "measured_s"), [(300.0, 1200.0), (0.0, 120.0), (4000.0, 600.0)])
def test_a_full_hour_lies_within_what_is_measured(minute: int, ramp_s: float, measured_s: float) -> None:
    now = HOUR + timedelta(minutes=minute, seconds=3)
    pause = until_the_start(now, ramp_s, measured_s)
    begins = now + timedelta(seconds=pause + ramp_s)
    hour = (begins + timedelta(minutes=59, seconds=59)).replace(minute=0, second=0)
    assert 0 <= pause <= 3600
    assert hour - begins >= timedelta(seconds=BEFORE_HOUR_S)
    assert begins + timedelta(seconds=measured_s) - hour >= timedelta(seconds=AFTER_HOUR_S - 1)


def test_no_time_is_lost_when_the_hour_is_near() -> None:
    assert until_the_start(HOUR - timedelta(minutes=10), 300.0, 1200.0) == 0


def test_too_short_a_run_is_refused() -> None:
    with pytest.raises(ValueError, match="expected at least 2 across a full hour, or --any-time"):
        until_the_start(HOUR, 300.0, 60.0)


def run(**figures: Any) -> dict[str, Any]:
    whole = {"p95_ms": figures.pop("p95_ms", 80.0), "max_ms": figures.pop("max_ms", 400.0)}
    return {"endpoints": [whole], "errors": {}, "troubles": [], "per_s": 50.0, **figures}


@pytest.mark.parametrize(
    ("figures", "names"),
    [
        ({}, []),
        ({"p95_ms": 200.0}, ["p95 under 200 ms"]),
        ({"errors": {"POST vote: 503": 1}}, ["no error"]),
        ({"troubles": ["2026-11-25 14:00:09,120 ERROR daphne.server: Exception"]}, ["no error in the logs"]),
        ({"per_s": 40.0}, ["50 requests/s"]),
        ({"max_ms": 500.1}, ["no call over 500 ms across a full hour"]),
    ],
)
def test_each_target_is_missed_by_name(figures: dict[str, Any], names: list[str]) -> None:
    assert missed(run(**figures), 50.0, across_an_hour=True) == names


def test_the_longest_call_counts_across_a_full_hour_alone() -> None:
    assert missed(run(max_ms=3600.0), 50.0, across_an_hour=False) == []


TURN = """
import json, sys, time
sys.path.insert(0, "scripts")
import load_feed

class Visitor:
    noted = []
    def note(self, what, seconds, error=None):
        self.noted.append((what, seconds, str(error or "")))

feed = object.__new__(load_feed.Feed)
feed._visitor, feed._ended = Visitor(), {}
sent = time.perf_counter() - 7.0
feed._take({"type": "turn.finished", "turn_id": "turn_1", "status": "completed"})
feed._ended["turn_1"].at -= 2.0
assert feed.wait_for("turn_1", sent)
assert not feed.wait_for("turn_2", sent - 60.0)
print(json.dumps(Visitor.noted))
"""


def test_a_turn_counts_from_its_sending_to_its_end_and_not_from_when_somebody_looks() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", TURN], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True
    ).stdout
    (what, seconds, error), (_, _, late) = json.loads(printed)
    assert (what, error) == ("turn sent to turn.finished", "")
    assert seconds == pytest.approx(5.0, abs=0.5)
    assert late == "no turn.finished within 60 s"


def test_what_the_log_says_of_publications_is_found_among_other_lines() -> None:
    said = PUBLISHED % (3.2, 541.0, 38.7)
    lines = ["2026-11-25 14:00:01 INFO celery: Received", f"2026-11-25 14:00:09 INFO aggregation: {said} task_id=1"]
    assert published(lines) == ["waited 3 ms for the lock, held it 541 ms, worked 39 ms"]
    assert published(lines[:1]) == []


def test_errors_are_found_in_a_log_as_the_arena_writes_it() -> None:
    failed = logging.LogRecord("daphne.server", logging.ERROR, "", 0, "Exception inside application: x", (), None)
    usual = logging.LogRecord("celery", logging.WARNING, "", 0, "an ERROR is named here", (), None)
    lines = [formatter("plain").format(record) for record in (failed, usual)]
    assert troubles([*lines, "  | File x, line 1", "ERROR without a time"]) == lines[:1]
