"""Several web processes of a host share a folder for their counts: whichever is asked tells of all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.stack import BASE_DIR

COUNT = """
import django; django.setup()
from arena.metrics import SOCKETS, VOTES
VOTES.labels("tie").inc()
SOCKETS.inc()
"""
ASK = """
import django; django.setup()
from prometheus_client import generate_latest
from arena.metrics import SOCKETS
from vlaarena.monitoring.metrics import _counted
SOCKETS.inc()
print(generate_latest(_counted()).decode())
"""


def run(program: str, folder: Path) -> str:
    environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_each_counted_is_added_up_and_the_sockets_of_the_dead_are_closed(tmp_path: Path) -> None:
    for _ in range(2):
        run(COUNT, tmp_path)

    told = run(ASK, tmp_path).splitlines()

    assert 'arena_votes_total{vote="tie"} 2.0' in told
    assert "arena_sockets_open 1.0" in told
