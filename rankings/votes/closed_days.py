"""The counts of days that are over, kept in columns: to read a day takes milliseconds, whatever was voted on it.

Days close from the day before yesterday on. Where a count of a closed day changes after all, by a moderator or a late
vote, `votes.ledger` opens the day again, in the same transaction. A vote that is cast does not ask about that, since
its day is open, unless the clock was set meanwhile: `close` looks for such votes first. It looks as well whether each
copy is still what was written, and makes it anew where it is not.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from datetime import UTC, date, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from django.db.models import Max, Min
from django.utils import timezone

from rankings.files.arrow import coded
from rankings.models import ClosedDay, CountedVote, VoteCount
from rankings.tally.arrays import Integers
from rankings.tally.counts import OUTCOMES
from rankings.tally.facts import NUMBERS, TEXTS, VoteFacts
from rankings.tally.table import FILE_KEYS, KEYS, VoteTable
from rankings.tally.weights import Answers
from rankings.votes import observed
from rankings.votes.observed import BesidePhysics

log = logging.getLogger(__name__)
COLUMNS = ("robot_id", "scene_id", "task_id", "left_model_id", "right_model_id", "voter", "day", "network")
"""As KEYS."""
TYPE = pa.dictionary(pa.int32(), pa.string())
SUM_BYTES = hashlib.sha256().digest_size
SCHEMA = pa.schema([*((name, TYPE) for name in FILE_KEYS), *((name, pa.int64()) for name in OUTCOMES)])
FACTS = pa.schema([*((name, TYPE) for name in FILE_KEYS[:-1]), *((name, pa.int64()) for name in NUMBERS)])


class DayContent(NamedTuple):
    """All that a day says, row by row, sorted."""

    facts: list[tuple[str | int, ...]]
    answers: dict[str, dict[str, list[int]]]
    counts: list[tuple[str | int, ...]]


def close() -> int:
    """Close every day that is over; returns how many. The caller holds the lock of the rankings, here and until it has
    asked for all that it wants of the days.
    """
    _reopen()
    days = _to_be_closed()
    last = CountedVote.objects.aggregate(last=Max("vote_id"))["last"] or 0  # rows of counts may be all that is left
    for day in days:
        beside = observed.beside_physics(day, day)
        facts = _packed(_columns(beside.facts))
        closed = ClosedDay(day=day, last_vote=last, facts=facts, answers=beside.answers)
        stream = _packed(_stored(day, day))
        closed.counts = stream + _sum(closed, stream)
        closed.save(force_insert=True)
    return len(days)


def counts() -> VoteTable:
    """All stored counts."""
    closed = [_unpacked(each) for each in ClosedDay.objects.values_list("counts", flat=True).iterator()]
    return _table(pa.concat_tables([*closed, _stored(_first_not_closed())]))


def vote_facts() -> VoteFacts:
    return beside_physics().facts


def beside_physics() -> BesidePhysics:
    """As `observed.beside_physics`, of all days."""
    rest = observed.beside_physics(_first_not_closed())
    facts, answers = [_columns(rest.facts)], rest.answers
    for stream, kinds in ClosedDay.objects.values_list("facts", "answers").iterator():
        facts.append(_opened(stream))
        for kind, voters in kinds.items():
            known = answers.setdefault(kind, {})
            for voter, each in voters.items():
                known[voter] = known.get(voter, Answers()).plus(Answers(*each))
    return BesidePhysics(_facts(pa.concat_tables(facts)), answers)


def _reopen() -> None:
    """Open the days that the clock of now does not call over, those of votes counted since days were closed, and those
    whose copy is damaged."""
    ClosedDay.objects.filter(day__gte=_first_not_over()).delete()
    damaged = [each.day for each in ClosedDay.objects.iterator(chunk_size=100) if not _is_whole(each)]
    if damaged:
        log.error("Closed days that are not as they were written, and are made anew: %s", ", ".join(map(str, damaged)))
        ClosedDay.objects.filter(day__in=damaged).delete()
    last = ClosedDay.objects.aggregate(last=Max("last_vote"))["last"]
    if last is not None:
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
        if not _is_whole(closed) or _content(closed) != _truth(closed.day):
            found.append(closed.day)
    return found


def _is_whole(closed: ClosedDay) -> bool:
    """Whether the copy is what was written. Those of earlier versions have no sum, and are not."""
    content = bytes(closed.counts)
    return content[-SUM_BYTES:] == _sum(closed, content[:-SUM_BYTES])


def _sum(closed: ClosedDay, stream: bytes) -> bytes:
    """Of all that a day keeps: SHA-256."""
    facts = hashlib.sha256(bytes(closed.facts)).hexdigest()
    about = json.dumps([closed.day.isoformat(), closed.last_vote, facts, closed.answers], sort_keys=True)
    return hashlib.sha256(about.encode() + stream).digest()


def _content(closed: ClosedDay) -> DayContent:
    return DayContent(_rows(_opened(closed.facts)), closed.answers, _rows(_unpacked(closed.counts)))


def _truth(day: date) -> DayContent:
    """What the copy of a day should hold."""
    beside = observed.beside_physics(day, day)
    answers = {kind: {voter: list(each) for voter, each in own.items()} for kind, own in beside.answers.items()}
    return DayContent(_rows(_columns(beside.facts)), answers, _rows(_stored(day, day)))


def _stored(first: date, last: date = date.max) -> pa.Table:
    """The rows of these days, both included."""
    rows = (
        VoteCount.objects.filter(day__range=(first, last)).values_list(*COLUMNS, *OUTCOMES).iterator(chunk_size=20_000)
    )
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    columns[KEYS.index("day")] = tuple(day.isoformat() for day in columns[KEYS.index("day")])
    texts = [pa.array(column, pa.string()).dictionary_encode() for column in columns[: len(KEYS)]]
    return pa.table([*texts, *(pa.array(column, pa.int64()) for column in columns[len(KEYS) :])], schema=SCHEMA)


def _columns(facts: VoteFacts) -> pa.Table:
    """As SCHEMA has counts: each text once, and its place in every row."""
    places = {name: pa.array(facts.codes[name], pa.int32()) for name in TEXTS}
    texts = [pa.DictionaryArray.from_arrays(places[name], pa.array(facts.values[name], pa.string())) for name in TEXTS]
    return pa.table([*texts, *(pa.array(column, pa.int64()) for column in facts.numbers)], schema=FACTS)


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(content: bytes | memoryview) -> pa.Table:
    """Of a stream with its sum behind it."""
    return _opened(content[:-SUM_BYTES])


def _opened(stream: bytes | memoryview) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(stream)) as opened:
        return opened.read_all()


def _rows(table: pa.Table) -> list[tuple[str | int, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def _table(columns: pa.Table) -> VoteTable:
    values, codes = _coded(columns, KEYS)
    return VoteTable(values, codes, np.stack(_numbers(columns, OUTCOMES)).T)


def _facts(columns: pa.Table) -> VoteFacts:
    return VoteFacts(*_coded(columns, TEXTS), *_numbers(columns, NUMBERS))


def _coded(columns: pa.Table, names: Sequence[str]) -> tuple[dict[str, tuple[str, ...]], dict[str, Integers]]:
    found = {name: coded(columns.column(place), strip=False) for place, name in enumerate(names)}
    return {name: tuple(values) for name, (_, values) in found.items()}, {n: codes for n, (codes, _) in found.items()}


def _numbers(columns: pa.Table, names: Iterable[str]) -> list[Integers]:
    return [np.concatenate([np.zeros(0, np.int64), *columns.column(name).chunks]) for name in names]
