"""The counts of past days, kept in columns, so that reading a day takes milliseconds however many votes it has.

Days close two days later. When a moderator or a late vote changes a count of a closed day, `votes.ledger` deletes its
copy in the same transaction. A vote being cast does not check that, since its day is open unless the clock was changed.
`closing` therefore looks for such votes first, and for damaged copies, and makes those copies again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import Max, Min
from django.utils import timezone

from rankings.files.arrow import TEXTS
from rankings.files.counts_file import sorting
from rankings.files.pieces import Known, Pieces
from rankings.models import ClosedDay, CountedVote, VoteCount
from rankings.tally.arrays import Codes, Narrow, taken
from rankings.tally.counts import OUTCOMES
from rankings.tally.facts import FACT_KEYS, VoteFacts
from rankings.tally.names import Names
from rankings.tally.table import FILE_KEYS, KEYS, VoteTable
from rankings.tally.weights import Answers
from rankings.votes import observed

log = logging.getLogger(__name__)
COLUMNS = ("robot_id", "scene_id", "task_id", "left_model_id", "right_model_id", "voter", "day", "network")
"""In the order of KEYS."""
CORES = 2
AT_ONCE = 4
"""Days in memory; one with a hundred thousand votes takes 4 MB."""
SUM_BYTES = hashlib.sha256().digest_size
SCHEMA = pa.schema([*((name, TEXTS) for name in FILE_KEYS), *((name, pa.int64()) for name in OUTCOMES)])
FACT_NUMBERS = ("vote", "physics", "steps_left", "steps_right")
"""What the copies call NUMBERS."""
FACTS = pa.schema([*((name, TEXTS) for name in FILE_KEYS[:-1]), *((name, pa.int64()) for name in FACT_NUMBERS)])


class DayContent(NamedTuple):
    """A day's facts, answers and counts, row by row, sorted."""

    facts: list[tuple[str | int, ...]]
    answers: dict[str, dict[str, list[int]]]
    counts: list[tuple[str | int, ...]]


class Closing(NamedTuple):
    """Days whose copies are no good, and the copies that are missing: read, but not written yet."""

    opened: frozenset[date] = frozenset()
    made: tuple[ClosedDay, ...] = ()


NOTHING = Closing()


def closing() -> Closing:
    """What `keep` has to change before all past days are closed. Reads only."""
    opened = _to_be_opened()
    last = CountedVote.objects.aggregate(last=Max("vote_id"))["last"] or 0
    return Closing(opened, tuple(_copy(day, last) for day in _to_be_closed(opened)))


def keep(found: Closing) -> None:
    """Write what `closing` found. The caller holds the lock of the rankings, under which nothing has changed a past
    count since."""
    ClosedDay.objects.filter(day__in=found.opened).delete()
    ClosedDay.objects.bulk_create(found.made, batch_size=10)


def close() -> int:
    """Close every past day; returns how many. The caller holds the lock of the rankings."""
    found = closing()
    keep(found)
    return len(found.made)


def counts(found: Closing = NOTHING) -> VoteTable:
    """All stored counts. `found`: read the copies as if it was kept already."""
    return counts_and_voters(found)[0]


def counts_and_voters(found: Closing = NOTHING) -> tuple[VoteTable, Known]:
    """The same, and how their voters are coded."""
    kept = ClosedDay.objects.exclude(day__in=found.opened).values_list("counts", flat=True)
    streams = itertools.chain(kept.iterator(chunk_size=AT_ONCE), (each.counts for each in found.made))
    tables = itertools.chain(map(_unpacked, streams), (_stored(_first_not_closed(found)),))
    known, codes, numbers = _in_order(_in_pieces(tables), KEYS)
    return VoteTable(_values(known), codes, np.stack(numbers).T), known["voter"]


class FactsRead(NamedTuple):
    """The facts of all days as they were read, and the answers."""

    pieces: list[Pieces]
    answers: dict[str, dict[str, Answers]]

    def facts(self) -> VoteFacts:
        """Asks no database. The pieces are used up."""
        known, codes, numbers = _in_order(self.pieces, FACT_KEYS)
        return VoteFacts(_values(known), codes, *numbers)


def read_facts(found: Closing = NOTHING, voters: Known | None = None) -> FactsRead:
    """As `observed.facts_and_answers`, of all days. `found`: as for `counts`. `voters`: of the counts, whose
    values the facts then share: a day has the same in both."""
    rest = observed.facts_and_answers(_first_not_closed(found))
    facts, answers = _columns(rest.facts), rest.answers
    kept = ClosedDay.objects.exclude(day__in=found.opened).values_list("facts", "answers")
    made = ((each.facts, each.answers) for each in found.made)

    def tables() -> Iterator[pa.Table]:
        yield facts
        for stream, kinds in itertools.chain(kept.iterator(chunk_size=AT_ONCE), made):
            _add(answers, kinds)
            yield _opened(stream)

    return FactsRead(_in_pieces(tables(), voters), answers)


def _add(answers: dict[str, dict[str, Answers]], kinds: Mapping[str, Mapping[str, Sequence[int]]]) -> None:
    """The answers that a day keeps, to those of other days."""
    for kind, voters in kinds.items():
        known = answers.setdefault(kind, {})
        for voter, each in voters.items():
            known[voter] = known.get(voter, Answers()).plus(Answers(*each))


def _copy(day: date, last_vote: int) -> ClosedDay:
    facts, answers = observed.facts_and_answers(day, day)
    closed = ClosedDay(day=day, last_vote=last_vote, facts=_packed(_columns(facts)))
    closed.answers = {kind: {voter: list(each) for voter, each in own.items()} for kind, own in answers.items()}
    stream = _packed(_stored(day, day))
    closed.counts = stream + _sum(closed, stream)
    return closed


def _to_be_opened() -> frozenset[date]:
    """Closed days that are not past by the current clock, days of votes counted since days were closed, and days whose
    copy is damaged."""
    last_votes, open_from = dict(ClosedDay.objects.values_list("day", "last_vote")), _first_not_over()
    early = {day for day in last_votes if day >= open_from}
    damaged = {each.day for each in ClosedDay.objects.iterator(chunk_size=AT_ONCE) if not _is_whole(each)} - early
    if damaged:
        log.error(
            "Copies of closed days are damaged and will be written again: %s", ", ".join(map(str, sorted(damaged)))
        )
    known = [last for day, last in last_votes.items() if day not in early | damaged]
    if not known:
        return frozenset(early | damaged)
    since = CountedVote.objects.filter(vote_id__gt=max(known)).order_by().values_list("count__day", flat=True)
    return frozenset(early | damaged | (last_votes.keys() & set(since.distinct())))


def _first_not_over() -> date:
    """Yesterday (UTC): a vote that is being cast may still belong to it."""
    return timezone.now().astimezone(UTC).date() - timedelta(days=1)


def _to_be_closed(opened: Collection[date]) -> list[date]:
    """Past days with counts that are not closed, or are `opened`. Only their rows are read."""
    first = VoteCount.objects.aggregate(first=Min("day"))["first"] or date.max
    over = {first + timedelta(days=number) for number in range((_first_not_over() - first).days)}
    over -= set(ClosedDay.objects.exclude(day__in=opened).values_list("day", flat=True))
    counted = VoteCount.objects.filter(day__in=over).order_by().values_list("day", flat=True)
    return sorted(counted.distinct()) if over else []


def _first_not_closed(found: Closing) -> date:
    """All days with counts before it are closed, and none from it on. The clock is not read: it may pass midnight."""
    kept = ClosedDay.objects.exclude(day__in=found.opened).aggregate(last=Max("day"))["last"]
    last = max((each.day for each in found.made), default=kept)
    last = max(last, kept) if last and kept else last
    return last + timedelta(days=1) if last else date.min


def differing() -> list[date]:
    """Closed days whose copy differs from the rows it was made from."""
    found = []
    for closed in ClosedDay.objects.order_by("day").iterator(chunk_size=AT_ONCE):
        if not _is_whole(closed) or _content(closed) != _truth(closed.day):
            found.append(closed.day)
    return found


def _is_whole(closed: ClosedDay) -> bool:
    """Whether the copy is as it was written. Copies of earlier versions have no checksum and count as damaged."""
    content = bytes(closed.counts)
    return content[-SUM_BYTES:] == _sum(closed, content[:-SUM_BYTES])


def _sum(closed: ClosedDay, stream: bytes) -> bytes:
    """SHA-256 of all that a day keeps."""
    facts = hashlib.sha256(bytes(closed.facts)).hexdigest()
    about = json.dumps([closed.day.isoformat(), closed.last_vote, facts, closed.answers], sort_keys=True)
    return hashlib.sha256(about.encode() + stream).digest()


def _content(closed: ClosedDay) -> DayContent:
    return DayContent(_rows(_opened(closed.facts)), closed.answers, _rows(_unpacked(closed.counts)))


def _truth(day: date) -> DayContent:
    """What the copy of a day should hold."""
    facts, by_kind = observed.facts_and_answers(day, day)
    answers = {kind: {voter: list(each) for voter, each in own.items()} for kind, own in by_kind.items()}
    return DayContent(_rows(_columns(facts)), answers, _rows(_stored(day, day)))


def _stored(first: date, last: date = date.max) -> pa.Table:
    """The rows of these days, both included."""
    rows = (
        VoteCount.objects.filter(day__range=(first, last)).values_list(*COLUMNS, *OUTCOMES).iterator(chunk_size=20_000)
    )
    columns = list(zip(*rows, strict=True)) or [()] * len(SCHEMA)
    columns[KEYS.index("day")] = tuple(day.isoformat() for day in columns[KEYS.index("day")])
    texts = list(map(_encoded, columns[: len(KEYS)]))
    return pa.table([*texts, *(pa.array(column, pa.int64()) for column in columns[len(KEYS) :])], schema=SCHEMA)


def _encoded(texts: Sequence[str]) -> pa.DictionaryArray:
    """With a sorted dictionary, as that of a day's facts is: see `read_facts`."""
    known = pa.array(sorted(set(texts)), pa.string())
    return pa.DictionaryArray.from_arrays(pc.index_in(pa.array(texts, pa.string()), known), known)


def _columns(facts: VoteFacts) -> pa.Table:
    """By FACTS."""
    coded = ((pa.array(facts.codes[key], pa.int32()), pa.array([*facts.values[key]], pa.string())) for key in FACT_KEYS)
    texts = list(itertools.starmap(pa.DictionaryArray.from_arrays, coded))
    return pa.table([*texts, *(pa.array(column, pa.int64()) for column in facts.numbers)], schema=FACTS)


def _packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(content: bytes | memoryview) -> pa.Table:
    """The counts of a stream with its checksum at the end."""
    return _opened(content[:-SUM_BYTES])


def _opened(stream: bytes | memoryview) -> pa.Table:
    with pa.ipc.open_stream(pa.py_buffer(stream)) as opened:
        return opened.read_all()


def _rows(table: pa.Table) -> list[tuple[str | int, ...]]:
    return sorted(tuple(row.values()) for row in table.to_pylist())


def _in_pieces(tables: Iterable[pa.Table], voters: Known | None = None) -> list[Pieces]:
    """The columns of these tables, of which one is in memory at a time."""
    pieces: list[Pieces] = []
    for table in tables:
        pieces = pieces or [Pieces(voters if name == "voter" else None) for name in table.column_names]
        for own, column in zip(pieces, table.columns, strict=True):
            own.add(column)
    pa.default_memory_pool().release_unused()
    return pieces


def _in_order(pieces: list[Pieces], texts: Sequence[str]) -> tuple[dict[str, Known], Codes, list[Narrow]]:
    """How the columns of texts are coded, which come first; (rows,) each row's places in their values; and (rows,) of
    each column of numbers. The pieces are used up."""
    with ThreadPoolExecutor(CORES) as cores:  # two columns have a text for each voter of each day
        coded = dict(zip(texts, cores.map(Pieces.coded, pieces[: len(texts)]), strict=True))
    numbers = [own.numbers() for own in pieces[len(texts) :]]
    pieces.clear()
    pa.default_memory_pool().release_unused()
    codes = {name: column for name, (column, _) in coded.items()}
    known = {name: values for name, (_, values) in coded.items()}
    del coded
    order = _by_voter(codes)
    for name in texts:
        codes[name] = taken(codes[name], order)
    for place, column in enumerate(numbers):
        numbers[place] = taken(column, order)
    return known, Codes(codes), numbers


def _values(known: Mapping[str, Known]) -> dict[str, Names]:
    return {name: each.values for name, each in known.items()}


def _by_voter(codes: Mapping[str, Narrow]) -> Narrow:
    """(rows,) the order by setting, voter, day and pair, in which counts are: then none of them sorts again."""
    low, high = np.minimum(codes["left"], codes["right"]), np.maximum(codes["left"], codes["right"])
    columns = (codes["setting"], codes["voter"], codes["day"], low, high, codes["left"] > codes["right"])
    return sorting(columns)
