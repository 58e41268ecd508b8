"""The nightly check that counts and boards follow from the raw votes. Read-only."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from arena.consistent_read import consistent_read
from arena.models import ProcessingStatus, Purpose, Vote
from rankings.models import ExcludedVoter, ModerationAct, VoteCount, WorkerStatus
from rankings.publication import aggregation, preparation, snapshots, tables
from rankings.tally.counts import OUTCOMES
from rankings.tally.table import VoteTable
from rankings.votes import classic, observed, past_days
from rankings.votes.judging import judged
from rankings.votes.ledger import Cell, cells_of

log = logging.getLogger(__name__)

WORKER = "rankings.check"
TOLD = 5
CountsByCell = dict[Cell, tuple[int, ...]]
PROCESSED = Q(processing_status=ProcessingStatus.PROCESSED)


@dataclass(frozen=True)
class Discrepancy:
    """A stored figure that differs from that of the raw votes. None: the row is missing on that side.

    `board`: a board's name, or "counts", where `model_id` names the pair, left first, and the voter.
    """

    board: str
    model_id: str
    field: str
    stored: Any
    rebuilt: Any


def differences(*, boards: bool = True) -> list[Discrepancy]:
    """What `aggregation.rebuild` would change, given the votes marked processed. `boards`: compare these too.

    All is read in one snapshot of the database, which blocks neither votes nor runs.
    """
    with consistent_read():
        return [*_counts_that_differ(), *_days_that_differ(), *(_rows_that_differ() if boards else ())]


def check() -> list[Discrepancy]:
    """Look for differences and report them in `worker_status` and the log.

    Boards are not compared while a moderator's act waits for the next publication.
    """
    found = differences(boards=not _moderated_since_publication())
    told = "; ".join(f"{each.board} {each.model_id} {each.field}" for each in found[:TOLD])
    if found:
        log.error("Counts or boards are not what the votes give, in %d places: %s", len(found), told)
    WorkerStatus.objects.update_or_create(
        worker_name=WORKER,
        defaults={
            "last_run_at": timezone.now(),
            "status": "different" if found else "ok",
            "error_message": f"{len(found)} differences: {told}"[:1000] if found else None,
        },
    )
    return found


def _moderated_since_publication() -> bool:
    acts, last = ModerationAct.objects.filter(votes__gt=0), aggregation.published_at()
    return (acts.filter(done_at__gt=last) if last else acts).exists()


def _counts_that_differ() -> Iterator[Discrepancy]:
    stored, rebuilt = _stored_counts(), _raw_counts(Vote.objects.exclude(Q(counted_vote=None) & ~PROCESSED))
    for cell in sorted(stored.keys() | rebuilt.keys()):
        zeros = (0,) * len(OUTCOMES)
        for outcome, before, after in zip(OUTCOMES, stored.get(cell, zeros), rebuilt.get(cell, zeros), strict=True):
            if before != after:
                where = f"{cell.left_model_id} - {cell.right_model_id} by {cell.voter or 'unknown'} on {cell.day}"
                yield Discrepancy("counts", where, outcome, before, after)


def _days_that_differ() -> Iterator[Discrepancy]:
    from rankings.votes import closed_days  # loads pyarrow, which the web does not need

    for day in closed_days.differing():
        yield Discrepancy("closed days", day.isoformat(), "counts or facts", "a copy", "other figures")
    for day in past_days.differing():
        yield Discrepancy("past days", day.isoformat(), "episodes or calibration battles", "sums", "other sums")


def _rows_that_differ() -> Iterator[Discrepancy]:
    stored, rebuilt = tables.stored_rows(), _rebuilt_rows()
    for place in sorted(stored.keys() | rebuilt.keys()):
        before, after = stored.get(place), rebuilt.get(place)
        if before is None or after is None:
            yield Discrepancy(*place, "row", before and "present", after and "present")
            continue
        for field in after:
            if before[field] != after[field]:
                yield Discrepancy(*place, field, before[field], after[field])


def _rebuilt_rows() -> tables.Rows:
    votes = Vote.objects.filter(PROCESSED)
    counts = _raw_counts(votes)
    rows: Iterator[tuple[str | int, ...]] = (
        (*map(str, cell[:6]), cell.day.isoformat(), cell.network, *numbers) for cell, numbers in counts.items()
    )
    stored = snapshots.Stored(VoteTable.of(rows), observed.facts_and_answers().answers)
    faulty = {key for batch in judged(votes) for key, fault in batch if fault}
    meant, found = _meant_for_the_ranking(votes), tables.Rows()
    for kind in preparation.published_kinds():
        table = stored.of(kind)
        rated, own = (
            snapshots.rate(table, [each for each in table.boards() if each.has_table]),
            meant.filter(kind=kind.id),
        )
        sequential = {each.board.name: classic.from_scratch(each.board, own, without=faulty) for each in rated}
        found |= tables.rows_of(rated, sequential)
    return found


def _stored_counts() -> CountsByCell:
    rows = VoteCount.objects.values_list(*Cell._fields, *OUTCOMES).iterator(chunk_size=20_000)
    size = len(Cell._fields)
    return {Cell(*row[:size]): row[size:] for row in rows if any(row[size:])}


def _raw_counts(votes: QuerySet[Vote]) -> CountsByCell:
    """Counts of those votes that have no fault, are meant for the ranking and are not excluded."""
    found: dict[Cell, list[int]] = {}
    for batch in judged(votes):
        good = [key for key, fault in batch if fault is None]
        counting = list(_meant_for_the_ranking(Vote.objects.filter(pk__in=good)))
        cells = cells_of(counting)
        for vote in counting:
            found.setdefault(cells[vote.pk], [0] * len(OUTCOMES))[OUTCOMES.index(vote.vote)] += 1
    return {cell: tuple(numbers) for cell, numbers in found.items()}


def _meant_for_the_ranking(votes: QuerySet[Vote]) -> QuerySet[Vote]:
    """Without calibration battles, spoiled battles, and votes and voters that moderators excluded."""
    shut_out = ExcludedVoter.objects.values("voter")
    meant = votes.filter(purpose=Purpose.RANK, battle__spoiled=False)
    return meant.exclude(counted_vote__excluded=True).exclude(user_id__in=shut_out)
