"""From pending votes to boards. One transaction under one lock: killed half way it has changed nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena.models import ProcessingStatus, Vote
from policies.models import Policy
from rankings.boards import Standing, standings
from rankings.counts import Ballot
from rankings.judging import BATCH, judge, judged
from rankings.models import BoardRow, ModelStatsByRobot, ModelStatsTotal, WorkerStatus

WORKER = "rankings.aggregate"
GLOBAL = "global"
STATISTICS = tuple(field for field in Standing.__dataclass_fields__ if field != "model_id")


@dataclass(frozen=True)
class Report:
    """What one run did."""

    votes_processed: int
    votes_failed: int
    rows_changed: int


@dataclass(frozen=True)
class Difference:
    """A stored figure that the raw votes do not give. None: the row is missing on that side."""

    board: str
    model_id: str
    field: str
    stored: Any
    rebuilt: Any


class Place(NamedTuple):
    """A row of a board; `board` is a robot, or GLOBAL."""

    board: str
    model_id: str


def aggregate() -> Report:
    """Take the pending votes into the boards. Safe to repeat, and to run twice at once: the second waits its turn."""
    return _run(Q(processing_status=ProcessingStatus.PENDING))


def rebuild() -> Report:
    """Judge every raw vote again, the processed and the failed ones too, and write the boards anew."""
    return _run(Q())


def differences() -> list[Difference]:
    """What `rebuild` would change in the boards, given the votes marked processed. Changes nothing."""
    with transaction.atomic():
        WorkerStatus.objects.select_for_update().filter(worker_name=WORKER).first()  # no run may write in between
        processed = Vote.objects.filter(processing_status=ProcessingStatus.PROCESSED)
        faulty = {key for batch in judged(processed) for key, fault in batch if fault}
        stored, rebuilt = _stored_rows(), _rebuilt_rows(without=faulty)
    found = []
    for place in sorted(stored.keys() | rebuilt.keys()):
        before, after = stored.get(place), rebuilt.get(place)
        if before is None or after is None:
            found.append(Difference(*place, "row", before and "present", after and "present"))
            continue
        found += [
            Difference(*place, field, before[field], after[field]) for field in after if before[field] != after[field]
        ]
    return found


def worker_status() -> WorkerStatus | None:
    return WorkerStatus.objects.filter(worker_name=WORKER).first()


def _run(which: Q) -> Report:
    try:
        with transaction.atomic():
            status = _claim()
            processed, failed = judge(Vote.objects.filter(which))
            report = Report(processed, failed, _write_boards())
            _note(status, report)
            return report
    except Exception as error:  # the reason must reach moderators before the task fails
        _note_failure(error)
        raise


def _claim() -> WorkerStatus:
    """Lock the worker's row until the transaction ends. On SQLite the transaction itself (IMMEDIATE) is the lock."""
    WorkerStatus.objects.get_or_create(worker_name=WORKER)
    return WorkerStatus.objects.select_for_update().get(worker_name=WORKER)


def _note(status: WorkerStatus, report: Report) -> None:
    status.last_run_at = timezone.now()
    status.status = "ok"
    status.votes_processed = report.votes_processed
    judged = report.votes_processed + report.votes_failed
    status.error_message = (
        f"{report.votes_failed} of {judged} votes failed; each says why" if report.votes_failed else None
    )
    status.save()


def _note_failure(error: Exception) -> None:
    WorkerStatus.objects.update_or_create(
        worker_name=WORKER,
        defaults={
            "last_run_at": timezone.now(),
            "status": "failed",
            "votes_processed": 0,
            "error_message": f"{type(error).__name__}: {error}"[:1000],
        },
    )


def _rebuilt_rows(without: Iterable[int] = ()) -> dict[Place, dict[str, Any]]:
    """Every row of every board from the processed votes, in the order in which they were cast."""
    skipped = set(without)
    by_board: dict[str, list[Ballot]] = defaultdict(list)
    votes = Vote.objects.filter(processing_status=ProcessingStatus.PROCESSED).order_by("voted_at", "id")
    columns = votes.values_list("pk", "robot_id", "left_model_id", "right_model_id", "vote", "user_id")
    for key, robot, left, right, outcome, voter in columns.iterator(chunk_size=20_000):
        if key not in skipped:
            ballot = Ballot(left, right, outcome, voter)
            by_board[robot].append(ballot)
            by_board[GLOBAL].append(ballot)
    papers = {policy.pk: policy for policy in Policy.objects.only("organization", "license")}
    rows = {}
    for board, ballots in by_board.items():
        for standing in standings(ballots):
            row = {name: value for name, value in asdict(standing).items() if name != "model_id"}
            if board == GLOBAL:
                policy = papers[standing.model_id]
                row |= {"organization": policy.organization, "license": policy.license}
            rows[Place(board, standing.model_id)] = row
    return rows


def _stored_rows() -> dict[Place, dict[str, Any]]:
    robots = ModelStatsByRobot.objects.values("robot_id", "model_id", *STATISTICS)
    totals = ModelStatsTotal.objects.values("model_id", "organization", "license", *STATISTICS)
    return {
        **{Place(row.pop("robot_id"), row.pop("model_id")): dict(row) for row in robots},
        **{Place(GLOBAL, row.pop("model_id")): dict(row) for row in totals},
    }


def _write_boards() -> int:
    """Make the stored rows what the processed votes give; returns how many changed, appeared or went."""
    stored, rebuilt = _stored_rows(), _rebuilt_rows()
    changed = {place: row for place, row in rebuilt.items() if stored.get(place) != row}
    gone = stored.keys() - rebuilt.keys()
    totals = {place: row for place, row in changed.items() if place.board == GLOBAL}
    robots = {place: row for place, row in changed.items() if place.board != GLOBAL}
    _upsert(ModelStatsTotal, ["model"], (dict(row, model_id=place.model_id) for place, row in totals.items()))
    _upsert(
        ModelStatsByRobot,
        ["model", "robot_id"],
        (dict(row, model_id=place.model_id, robot_id=place.board) for place, row in robots.items()),
    )
    for place in gone:
        if place.board == GLOBAL:
            ModelStatsTotal.objects.filter(model_id=place.model_id).delete()
        else:
            ModelStatsByRobot.objects.filter(model_id=place.model_id, robot_id=place.board).delete()
    return len(changed) + len(gone)


def _upsert(table: type[BoardRow], key: list[str], rows: Iterable[Mapping[str, Any]]) -> None:
    now = timezone.now()
    made = [table(**row, updated_at=now) for row in rows]
    names = {field.name for field in table._meta.concrete_fields} - {"id", *key}
    table._default_manager.bulk_create(
        made, update_conflicts=True, unique_fields=key, update_fields=sorted(names), batch_size=BATCH
    )
