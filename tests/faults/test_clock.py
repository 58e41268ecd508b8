"""The clock of the fault suite moves the wall clock alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.clock import Clock

ASK = (
    "import datetime, time; print(time.time(), datetime.datetime.now(datetime.UTC).timestamp(), time.monotonic());"
    "time.sleep(0.01)"
)


@pytest.mark.parametrize("ahead", [0, 3600, -90_000])
def test_processes_live_by_the_time_it_is_set_to_and_their_monotonic_clock_goes_on(tmp_path: Path, ahead: int) -> None:
    clock = Clock(tmp_path)
    clock.set(ahead)
    before, before_monotonic = time.time(), time.monotonic()
    said = subprocess.run(
        [sys.executable, "-c", ASK],
        env={**os.environ, **clock.environment},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    wall, date, monotonic = (float(word) for word in said)
    assert before + ahead <= wall <= time.time() + ahead
    assert before + ahead <= date <= time.time() + ahead
    assert before_monotonic <= monotonic <= time.monotonic()


def test_a_running_process_follows_at_once(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    ask = "import time\nwhile input():\n    print(time.time(), flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", ask],
        env={**os.environ, **clock.environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for ahead in (3600, -3600, 0):
            clock.set(ahead)
            print("now?", file=running.stdin, flush=True)
            assert abs(float(running.stdout.readline()) - time.time() - ahead) < 60
        print(file=running.stdin, flush=True)
