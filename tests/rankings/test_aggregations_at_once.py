"""Two aggregations at once take turns; one that is killed leaves no trace."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.conf import settings
from django.db import connection, connections

from arena.models import Vote
from rankings.models import ModelStatsTotal, WorkerStatus
from rankings.publication import aggregation, checking
from tests.rankings.ballots import ballots, cast

pytestmark = pytest.mark.django_db(transaction=True)

VOTES = ballots(("a", "b", "left_better", 40), ("b", "c", "tie", 30), ("c", "a", "both_bad", 30))

DIES_BEFORE_THE_END = """
import os, signal
import django
django.setup()
from rankings.publication import aggregation
aggregation._note = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
aggregation.aggregate()
"""


def test_runs_at_once_count_every_vote_once() -> None:
    cast(VOTES)
    together = Barrier(4)

    def run() -> int:
        together.wait()
        try:
            return aggregation.aggregate().votes_processed
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as threads:
        counted = [future.result() for future in [threads.submit(run) for _ in range(4)]]
    assert sorted(counted) == [0, 0, 0, 100]
    assert dict(ModelStatsTotal.objects.values_list("model_id", "vote_count")) == {"a": 70, "b": 70, "c": 60}
    assert WorkerStatus.objects.count() == 1
    assert checking.differences() == []


def test_votes_that_arrive_while_runs_compete_are_counted_once_too() -> None:
    cast(VOTES)

    def run(_: int) -> None:
        try:
            aggregation.aggregate()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as threads:
        runs = threads.map(run, range(6))
        cast(VOTES, start=1000)
        list(runs)
    aggregation.aggregate()
    assert ModelStatsTotal.objects.get(model_id="a").vote_count == 140
    assert checking.differences() == []


def test_a_killed_run_changes_nothing_and_does_not_block_the_next() -> None:
    cast(VOTES)
    killed = subprocess.run(
        [sys.executable, "-c", DIES_BEFORE_THE_END], env=_environment(), cwd=settings.BASE_DIR, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert not Vote.objects.exclude(processing_status="pending").exists()
    assert not ModelStatsTotal.objects.exists()
    assert not WorkerStatus.objects.exists()
    assert aggregation.aggregate().votes_processed == 100


def _environment() -> dict[str, str]:
    """That of this run, with the test's database."""
    name = connection.settings_dict["NAME"]
    given = os.environ.get("DATABASE_URL", "")
    address = f"{given.rsplit('/', 1)[0]}/{name}" if given.startswith("postgres") else f"sqlite:///{name}"
    return {**os.environ, "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "vlaarena.settings"}
