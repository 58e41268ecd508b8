"""From votes to boards, in one transaction under one lock: a run that is killed has changed nothing.

Counts change as votes are cast (`votes.ledger`). A run checks and marks the pending votes, counts those that are not
counted yet, and fits every board to the counts. Its cost depends on pairs and voters, not on votes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from arena import kinds
from arena.errors import ArenaError
from arena.kinds import Kind
from arena.models import Contestant, ProcessingStatus, Vote
from rankings.fit.standings import STATISTICS, standings_of
from rankings.models import BoardRow, ModelStatsByRobot, ModelStatsTotal, WorkerStatus
from rankings.publication import snapshots
from rankings.publication.report import publish_report
from rankings.publication.retention import thin_out
from rankings.publication.snapshots import Rated
from rankings.publication.upsets import mark_upsets
from rankings.tally.table import GLOBAL, Board
from rankings.votes import classic, ledger
from rankings.votes.judging import BATCH, judge
from rankings.votes.locking import WORKER, lock_rankings


@dataclass(frozen=True)
class RunReport:
    """What one run did."""

    votes_processed: int
    votes_failed: int
    rows_changed: int


class PublishedAlready(ArenaError):
    """Boards that changed with every vote would reveal it (decision: counts-and-publication)."""

    status, code = 409, "published_already"

    def __init__(self, next_at: datetime) -> None:
        super().__init__(
            f"This hour's boards are published. The next are due at {next_at:%H:%M} UTC.", next_at=next_at.isoformat()
        )


class BoardPlace(NamedTuple):
    """A row of a board. `board`: a setting, or GLOBAL for the global board of the contestant's kind."""

    board: str
    model_id: str


Rows = dict[BoardPlace, dict[str, Any]]


def aggregate(*, once_an_hour: bool = False) -> RunReport:
    """Take the pending votes into the boards. Safe to repeat, and to run twice at once: the second waits for the first.

    `once_an_hour`: raises PublishedAlready where the boards were written in this hour of the clock (UTC).
    """
    return _run(Q(processing_status=ProcessingStatus.PENDING), once_an_hour=once_an_hour)


def rebuild() -> RunReport:
    """Check and count every raw vote again, processed and failed ones included, and write the boards again."""
    return _run(Q(), anew=True)


def worker_status() -> WorkerStatus | None:
    return WorkerStatus.objects.filter(worker_name=WORKER).first()


def published_at() -> datetime | None:
    """When the boards were last written; failed runs do not write them."""
    status = worker_status()
    return status.published_at if status else None


def _run(which: Q, *, anew: bool = False, once_an_hour: bool = False) -> RunReport:
    try:
        with transaction.atomic():
            status = lock_rankings()
            hour = timezone.now().replace(minute=0, second=0, microsecond=0)
            if once_an_hour and status.published_at is not None and status.published_at >= hour:
                raise PublishedAlready(hour + timedelta(hours=1))
            processed, failed = judge(Vote.objects.filter(which))
            if anew:
                ledger.forget_counts()
            for first in range(0, len(processed), BATCH):
                ledger.count_votes(Vote.objects.filter(pk__in=processed[first : first + BATCH]))
            ledger.uncount_votes(failed)
            report = RunReport(len(processed), len(failed), _publish(processed))
            _note(status, report)
            return report
    except PublishedAlready:
        raise
    except Exception as error:  # the reason must reach moderators before the task fails
        WorkerStatus.objects.update_or_create(
            worker_name=WORKER,
            defaults={
                "last_run_at": timezone.now(),
                "status": "failed",
                "votes_processed": 0,
                "error_message": f"{type(error).__name__}: {error}"[:1000],
            },
        )
        raise


def _publish(new: list[int]) -> int:
    """Publish every kind and write the tables; returns how many of their rows changed. `new`: keys of votes."""
    stored, rows = snapshots.load(), Rows()
    for kind in published_kinds():
        rows |= _publish_kind(kind, stored, new)
    thin_out()
    return _write_tables(rows)


def published_kinds() -> list[Kind]:
    """The kinds with contestants, and the default one."""
    known = set(Contestant.objects.order_by().values_list("kind", flat=True).distinct())
    return [kind for kind in kinds.every() if kind.id in known or kind is kinds.default()]


def _publish_kind(kind: Kind, stored: snapshots.Stored, new: list[int]) -> Rows:
    """Fit every board of a kind, and keep a snapshot."""
    table, facts = stored.of(kind)
    rated = snapshots.rate(table, table.boards())
    sequential = classic.advance(kind, [each.board for each in rated], new)
    publish_report(kind, snapshots.publish(kind, table, rated), table, rated, facts)
    mark_upsets(kind, rated)
    return rows_of(rated, sequential)


def rows_of(rated: Iterable[Rated], sequential: Mapping[str, Mapping[str, int]]) -> Rows:
    """The rows of the tables: the global board and one per setting."""
    contestants = Contestant.objects.only("organization", "license").in_bulk()
    rows: Rows = {}
    for each in rated:
        if not each.board.has_table:
            continue
        for standing in standings_of(each.counts, each.fit, sequential[each.board.name]):
            row = {name: value for name, value in asdict(standing).items() if name != "model_id"}
            if each.board == Board():
                contestant = contestants[standing.model_id]
                row |= {"organization": contestant.organization, "license": contestant.license}
            rows[BoardPlace(each.board.setting or GLOBAL, standing.model_id)] = row
    return rows


def stored_rows() -> Rows:
    settings = ModelStatsByRobot.objects.values("robot_id", "model_id", *STATISTICS)
    totals = ModelStatsTotal.objects.values("model_id", "organization", "license", *STATISTICS)
    return {
        **{BoardPlace(row.pop("robot_id"), row.pop("model_id")): dict(row) for row in settings},
        **{BoardPlace(GLOBAL, row.pop("model_id")): dict(row) for row in totals},
    }


def _note(status: WorkerStatus, report: RunReport) -> None:
    status.last_run_at = status.published_at = timezone.now()
    status.status = "ok"
    status.votes_processed = report.votes_processed
    judged = report.votes_processed + report.votes_failed
    status.error_message = (
        f"{report.votes_failed} of {judged} votes failed; each says why" if report.votes_failed else None
    )
    status.save()


def _write_tables(rebuilt: Rows) -> int:
    """Replace the stored rows; returns how many changed, appeared or disappeared."""
    stored = stored_rows()
    changed = {place: row for place, row in rebuilt.items() if stored.get(place) != row}
    gone = stored.keys() - rebuilt.keys()
    totals = {place: row for place, row in changed.items() if place.board == GLOBAL}
    settings = {place: row for place, row in changed.items() if place.board != GLOBAL}
    _upsert(ModelStatsTotal, ["model"], (dict(row, model_id=place.model_id) for place, row in totals.items()))
    _upsert(
        ModelStatsByRobot,
        ["model", "robot_id"],
        (dict(row, model_id=place.model_id, robot_id=place.board) for place, row in settings.items()),
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
