"""Votes, exclusions and other publications while a publication reads and fits. It holds no lock then."""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.conf import settings
from django.db import connection, connections, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from arena.consistent_read import consistent_read
from arena.models import ProcessingStatus, Vote
from arena.signals import vote_cast
from rankings.models import ClosedDay, ModelStatsTotal, Report, Snapshot, WorkerStatus
from rankings.publication import aggregation, checking, preparation, snapshots
from rankings.votes import ledger
from tests.rankings.ballots import ballots, cast
from tests.rankings.test_aggregations_at_once import _environment

pytestmark = pytest.mark.django_db(transaction=True)

SOME = ballots(("a", "b", "left_better", 6, "v1"), ("b", "c", "tie", 4, "v2"), ("c", "a", "both_bad", 3, "v3"))
MORE = ballots(("a", "b", "right_better", 1, "v4"))
WAIT_S = 10.0

DIES = """
import os, signal
import django
django.setup()
from rankings.publication import aggregation, preparation, snapshots, tables
def dies(*_): os.kill(os.getpid(), signal.SIGKILL)
{where} = dies
aggregation.aggregate()
"""


def cast_live(votes: list[object], start: int = 0) -> list[Vote]:
    """As visitors cast them: each is counted in the transaction that stores it."""
    with transaction.atomic():
        stored = cast(votes, start=start)  # type: ignore[arg-type]
        for vote in stored:
            vote_cast.send(sender=Vote, vote=vote)
    return stored


def votes_of(policy: str) -> int:
    return int(ModelStatsTotal.objects.get(model_id=policy).vote_count)


def meanwhile(monkeypatch: pytest.MonkeyPatch, *acts: Callable[[], object]) -> None:
    """Do one act, in another connection, during each of the next fits."""
    rest, rate = list(acts), snapshots.rate

    def rate_and_act(*given: object) -> object:
        found = rate(*given)  # type: ignore[arg-type]
        if rest:
            elsewhere(rest.pop(0))
        return found

    monkeypatch.setattr(snapshots, "rate", rate_and_act)


def elsewhere(act: Callable[[], object]) -> None:
    def run() -> None:
        try:
            act()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(run).result()


def test_a_vote_is_stored_while_a_fit_is_in_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    cast_live(SOME)
    fits, is_stored, rate = Event(), Event(), snapshots.rate

    def waits(*given: object) -> object:
        fits.set()
        assert is_stored.wait(WAIT_S), "the vote waited for the fit"
        return rate(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(snapshots, "rate", waits)
    with ThreadPoolExecutor(1) as thread:
        publication = thread.submit(_aggregated)
        assert fits.wait(WAIT_S)
        cast_live(MORE, start=100)
        is_stored.set()
        assert publication.result().votes_processed == len(SOME)
    assert votes_of("a") == 9
    assert Vote.objects.filter(processing_status=ProcessingStatus.PENDING).count() == len(MORE)


def _aggregated() -> aggregation.RunReport:
    try:
        return aggregation.aggregate()
    finally:
        connections.close_all()


def test_the_vote_is_in_the_next_publication(monkeypatch: pytest.MonkeyPatch) -> None:
    cast_live(SOME)
    meanwhile(monkeypatch, lambda: cast_live(MORE, start=100))
    assert aggregation.aggregate().votes_processed == len(SOME)
    assert aggregation.aggregate() == aggregation.RunReport(votes_processed=1, votes_failed=0, rows_changed=6)
    assert votes_of("a") == 10
    assert checking.differences() == []


def test_a_publication_begins_again_when_a_moderator_excludes_a_voter(monkeypatch: pytest.MonkeyPatch) -> None:
    cast_live(SOME)
    meanwhile(monkeypatch, lambda: ledger.exclude_voter("v1"))
    assert aggregation.aggregate().votes_processed == len(SOME)
    assert votes_of("a") == 3
    assert not ClosedDay.objects.filter(counts=b"").exists()
    assert checking.differences() == []


def test_a_moderator_who_does_not_stop_cannot_stop_a_publication(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = cast_live(SOME)
    acts = [lambda key=vote.pk: ledger.exclude_votes([key]) for vote in stored[: aggregation.TRIES]]
    meanwhile(monkeypatch, *acts)
    assert aggregation.aggregate().votes_processed == len(SOME)
    assert votes_of("a") == 9 - aggregation.TRIES
    assert checking.differences() == []


def test_the_slower_of_two_publications_does_not_write_over_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    cast_live(SOME)
    reports: list[aggregation.RunReport] = []
    meanwhile(monkeypatch, lambda: reports.append(aggregation.aggregate()))
    reports.append(aggregation.aggregate())
    assert [each.votes_processed for each in reports] == [len(SOME), 0]
    assert Snapshot.objects.count() == Report.objects.count() == 1
    assert checking.differences() == []


def test_two_publications_at_once_publish_once_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    cast_live(SOME)
    meanwhile(monkeypatch, lambda: aggregation.aggregate(once_an_hour=True))
    with pytest.raises(aggregation.PublishedAlready):
        aggregation.aggregate(once_an_hour=True)
    assert WorkerStatus.objects.get().votes_processed == len(SOME)


def test_a_vote_that_nobody_has_counted_is_counted_by_the_publication() -> None:
    cast_live(SOME)
    cast(MORE, start=100)
    assert aggregation.aggregate().votes_processed == len(SOME) + 1
    assert votes_of("a") == 10


@pytest.mark.parametrize("where", ["snapshots.rate", "tables.write", "aggregation._note"])
def test_a_publication_killed_half_way_has_changed_nothing(where: str) -> None:
    cast_live(SOME)
    before = _stored()
    killed = subprocess.run(
        [sys.executable, "-c", DIES.format(where=where)], env=_environment(), cwd=settings.BASE_DIR, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert _stored() == before
    assert aggregation.aggregate().votes_processed == len(SOME)
    assert checking.differences() == []


def _stored() -> list[object]:
    return [
        sorted(Vote.objects.values_list("pk", "processing_status")),
        [table.objects.count() for table in (ModelStatsTotal, Snapshot, Report, ClosedDay)],
        list(WorkerStatus.objects.values()),
    ]


def test_what_is_read_and_fitted_writes_nothing() -> None:
    cast_live(SOME)
    aggregation.aggregate()
    cast_live(MORE, start=100)
    with consistent_read(), CaptureQueriesContext(connection) as asked:
        preparation.prepare([vote.pk for vote in Vote.objects.filter(processing_status=ProcessingStatus.PENDING)])
    verbs = {each["sql"].split()[0] for each in asked}
    assert "SELECT" in verbs
    assert verbs <= {"SELECT", "DECLARE", "FETCH", "CLOSE", "SAVEPOINT", "RELEASE"}
    assert timezone.now() > WorkerStatus.objects.get().last_run_at


def test_a_publication_tells_the_log_how_long_votes_waited_for_it(caplog: pytest.LogCaptureFixture) -> None:
    cast_live(SOME)
    logger = logging.getLogger(aggregation.__name__)
    logger.addHandler(caplog.handler)
    try:
        aggregation.aggregate()
    finally:
        logger.removeHandler(caplog.handler)
    assert re.search(r"Published: waited \d+ ms for the lock, held it \d+ ms, worked \d+ ms of them", caplog.text)
