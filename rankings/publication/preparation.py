"""A publication before it is stored: every board fitted, every report written. Reads only: no vote waits for it."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from arena import kinds
from arena.kinds import Kind
from arena.models import Contestant, GalleryEntry
from rankings.files.counts_file import write_counts
from rankings.models import ClassicElo, PastDay, Snapshot
from rankings.publication import memory, report, snapshots, tables, upsets
from rankings.publication.report import Written
from rankings.publication.retention import thin_out
from rankings.publication.snapshots import Stored, names_of
from rankings.publication.tables import Rows
from rankings.tally.facts import VoteFacts
from rankings.tally.table import VoteTable
from rankings.votes import classic, past_days

if TYPE_CHECKING:
    from rankings.votes.closed_days import Closing


class Votes(NamedTuple):
    """Those of one kind. `facts`, `agreed`: may still be computed."""

    table: VoteTable
    facts: Future[VoteFacts]
    agreed: Future[report.Agreements]


class PreparedKind(NamedTuple):
    """What is stored of one kind."""

    kind: Kind
    snapshot: Snapshot
    report: Written
    sequential: list[ClassicElo]
    upsets: list[GalleryEntry]
    rows: Rows


class Prepared(NamedTuple):
    """What `store` writes."""

    closing: Closing
    past: list[PastDay]
    kinds: list[PreparedKind]


def prepare(new: list[int]) -> Prepared:
    """Fit every board of every kind. `new`: primary keys of the votes since the last publication.

    The caller reads in one moment of the database, or holds the lock of the rankings.
    """
    from rankings.votes import closed_days  # loads pyarrow, which the web does not need

    memory.give_back()
    closing, past, published = closed_days.closing(), past_days.missing(), published_kinds()
    counts, voters = closed_days.counts_and_voters(closing)
    read = closed_days.read_facts(closing, voters)
    with ThreadPoolExecutor(1) as aside:  # a second core, while this one asks the database
        stored, facts = Stored(counts, read.answers), aside.submit(read.facts)
        del counts, voters, read
        judged = {kind.id: _judged(aside, facts, names_of(kind)) for kind in published}
        del facts
        waiting = {kind.id: Votes(stored.of(kind), *judged.pop(kind.id)) for kind in published}
        del stored
        return Prepared(closing, past, [_prepare(kind, waiting, past, new, aside) for kind in published])


def _judged(
    aside: Executor, facts: Future[VoteFacts], names: set[str]
) -> tuple[Future[VoteFacts], Future[report.Agreements]]:
    """The facts of a kind's votes, and what they say alone."""
    own = aside.submit(lambda: facts.result().among(names))
    return own, aside.submit(lambda: report.agreements(own.result()))


def published_kinds() -> list[Kind]:
    """The kinds with contestants, and the default one."""
    known = set(Contestant.objects.order_by().values_list("kind", flat=True).distinct())
    return [kind for kind in kinds.every() if kind.id in known or kind is kinds.default()]


def _prepare(
    kind: Kind, waiting: dict[str, Votes], past: list[PastDay], new: list[int], aside: Executor
) -> PreparedKind:
    """Tables and facts are taken from those `waiting` and let go as soon as nothing else is computed of them: ten
    million votes are a gigabyte."""
    table, facts, agreed = waiting.pop(kind.id)
    adjusted, file = aside.submit(report.terms, table, facts.result()), aside.submit(write_counts, table)
    del facts
    rated = snapshots.rate_all(kind, table)
    states = classic.advanced(kind, [each.board for each in rated], new, snapshots.regrouped(kind))
    written = report.write_report(kind, table, rated, past_days.observe(kind, past), agreed.result(), adjusted)
    rows = tables.rows_of(rated, {board: state.ratings for board, state in states.items()})
    upset, whole = upsets.newly_rated(kind, rated), report.whole_board(rated)
    boards = snapshots.content(rated)
    del table, rated
    report.tell_influence(written.content, whole, aside)
    snapshot = snapshots.snapshot(kind, file.result(), boards)
    report.add_trend(written.content, kind, snapshot, whole)
    return PreparedKind(kind, snapshot, written, list(states.values()), upset, rows)


def store(prepared: Prepared) -> int:
    """Write it all; returns how many rows of the boards' tables changed. The caller holds the lock of the rankings, and
    no publication and no change of past counts has come between."""
    from rankings.votes import closed_days

    closed_days.keep(prepared.closing)
    past_days.keep(prepared.past)
    rows = Rows()
    for each in prepared.kinds:
        if each.snapshot._state.adding:
            each.snapshot.save()
        classic.save(each.sequential)
        report.store(each.kind, each.snapshot, each.report)
        upsets.mark(each.upsets)
        rows |= each.rows
    thin_out()
    return tables.write(rows)
