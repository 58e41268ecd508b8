"""The counts of days that are over, kept in columns: to read a day takes milliseconds, whatever was voted on it.

Days close from the day before yesterday on. Where a count of a closed day changes after all, by a moderator or a late
vote, `rankings.ledger` opens the day again, in the same transaction. A vote that is cast does not ask about that, since
its day is open, unless the clock was set meanwhile: `close` looks for such votes first.
"""

from __future__ import annotations

from datetime import UTC, date, timedelta

import numpy as np
import pyarrow as pa
from django.db.models import Max, Min
from django.utils import timezone

from rankings import observed
from rankings.agreement import Seen
from rankings.arrow import coded
from rankings.counts import OUTCOMES
from rankings.models import ClosedDay, CountedVote, VoteCount
from rankings.table import KEYS, Table

COLUMNS = ("robot_id", "scene_id", "task_id", "left_model_id", "right_model_id", "voter", "day")
"""As KEYS."""
TYPE = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema([*((name, TYPE) for name in KEYS), *((name, pa.int64()) for name in OUTCOMES)])


def close() -> int:
    """Close every day that is over; returns how many. The caller holds the lock of the rankings, here and until it has
    asked for all that it wants of the days.
    """
    _reopen()
    days = _to_be_closed()
    last = CountedVote.objects.aggregate(last=Max("vote_id"))["last"]
    for day in days:
        seen = observed.votes_beside_physics(day, day)
        ClosedDay.objects.create(day=day, last_vote=last, counts=_packed(_stored(day, day)), seen=seen)
    return len(days)


def counts() -> Table:
    """All stored counts."""
    closed = [_unpacked(each) for each in ClosedDay.objects.values_list("counts", flat=True).iterator()]
    return _table(pa.concat_tables([*closed, _stored(_first_not_closed())]))


def votes_beside_physics() -> list[Seen]:
    """As `observed.votes_beside_physics`, of all days."""
    kept = (Seen(*each) for seen in ClosedDay.objects.values_list("seen", flat=True).iterator() for each in seen)
    return observed.summed([*kept, *observed.votes_beside_physics(_first_not_closed())])


def _reopen() -> None:
    """Open the days that the clock of now does not call over, and those of votes counted since days were closed."""
    ClosedDay.objects.filter(day__gte=_first_not_over()).delete()
    if last := ClosedDay.objects.aggregate(last=Max("last_vote"))["last"]:
        since = CountedVote.objects.filter(vote_id__gt=last).values("count__day").distinct()
        ClosedDay.objects.filter(day__in=since).delete()


def _first_not_over() -> date:
    """Yesterday (UTC): a vote that is being cast may still belong to it."""
    return timezone.now().astimezone(UTC).date() - timedelta(days=1)


def _to_be_closed() -> list[date]:
    """Days with counts that are over. Asks by day, for the database to look into no other."""
    first = VoteCount.objects.aggregate(first=Min("day"))["first"] or date.max
    over = {first + timedelta(days=number) for number in range((_first_not_over() - first).days)}
    over -= set(ClosedDay.objects.values_list("day", flat=True))
    counted = VoteCount.objects.filter(day__in=over).order_by().values_list("day", flat=True)
    return sorted(counted.distinct()) if over else []


def _first_not_closed() -> date:
    """All days with counts before it are closed, and none from it on. It asks no clock, which may pass midnight."""
    last = ClosedDay.objects.aggregate(last=Max("day"))["last"]
    return last + timedelta(days=1) if last else date.min


def differing() -> list[date]:
    """Closed days whose copy is not what is stored row by row."""
    found = []
    for closed in ClosedDay.objects.order_by("day").iterator():
        seen = [list(each) for each in observed.votes_beside_physics(closed.day, closed.day)]
        if seen != closed.seen or _rows(_unpacked(closed.counts)) != _rows(_stored(closed.day, closed.day)):
            found.append(closed.day)
    return found


def _stored(first: date, last: date = date.max) -> pa.Table:
    """The rows of these days, both included."""
    rows = (
        VoteCount.objects.filter(day__range=(first, last)).values_list(*COLUMNS, *OUTCOMES).iterator(chunk_size=20_000)
    )
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    columns[KEYS.index("day")] = tuple(day.isoformat() for day in columns[KEYS.index("day")])
    texts = [pa.array(column, pa.string()).dictionary_encode() for column in columns[: len(KEYS)]]
    return pa.table([*texts, *(pa.array(column, pa.int64()) for column in columns[len(KEYS) :])], schema=SCHEMA)


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(content: bytes | memoryview) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(content)) as stream:
        return stream.read_all()


def _rows(table: pa.Table) -> list[tuple[str | int, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def _table(columns: pa.Table) -> Table:
    found = {key: coded(columns.column(key), strip=False) for key in KEYS}
    sums = [np.concatenate([np.zeros(0, np.int64), *columns.column(name).chunks]) for name in OUTCOMES]
    return Table(
        {key: tuple(values) for key, (_, values) in found.items()},
        {key: codes for key, (codes, _) in found.items()},
        np.stack(sums).T,
    )
