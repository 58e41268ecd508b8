"""The ledger of counted votes: counts change in the transaction in which a vote is cast, excluded or restored.

Every function takes the rankings' lock. Nothing else changes `VoteCount`, `CountedVote` or `ExcludedVoter`.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from arena import kinds
from arena.models import Purpose, Turn, Vote
from arena.rules import turn_status
from rankings.models import ClassicElo, ClosedDay, CountedVote, ExcludedVoter, PastDay, VoteCount
from rankings.tally.counts import OUTCOMES
from rankings.votes import past_days
from rankings.votes.judging import Judgement
from rankings.votes.locking import lock_rankings, raise_revision

BATCH = 500


class Cell(NamedTuple):
    """The key of a row of counts."""

    robot_id: str
    scene_id: str
    task_id: str
    left_model_id: str
    right_model_id: str
    voter: str
    day: date
    network: str = ""


def take_vote(*, vote: Vote, **_: Any) -> None:
    """Receiver of `arena.signals.vote_cast`, inside the transaction that stores the vote.

    Four queries where the turns of the vote's battle are prefetched.
    """
    lock_rankings()
    if vote.purpose == Purpose.RANK and not vote.battle.spoiled:
        _count_new([vote], {vote.battle_id: _task_of(vote.kind, vote.scene, vote.battle.turns.all())})


def count_votes(votes: Iterable[Vote]) -> int:
    """Count those votes that are meant for the ranking and not counted yet; returns how many."""
    rest, counted = iter(votes), 0
    with transaction.atomic():
        lock_rankings()
        while batch := list(itertools.islice(rest, BATCH)):
            counted += _count(batch)
    return counted


def is_settled(votes: QuerySet[Vote], found: Judgement) -> bool:
    """Whether those of `votes` that should be counted are, and faulty ones are not. `found`: how they were judged."""
    uncounted = votes.filter(counted_vote=None, purpose=Purpose.RANK, battle__spoiled=False).exclude(
        pk__in=found.failed
    )
    return not (uncounted.exists() or CountedVote.objects.filter(vote_id__in=found.failed).exists())


def uncount_votes(keys: Collection[int]) -> int:
    """Forget faulty votes; returns how many were known. `keys` are primary keys throughout."""
    with transaction.atomic():
        lock_rankings()
        rows = _rows(CountedVote.objects.filter(vote_id__in=keys))
        _move([row for row in rows if row.counted], -1)
        CountedVote.objects.filter(pk__in=[row.pk for row in rows]).delete()
        return len(rows)


def forget_counts() -> None:
    """Empty the counts, so that every vote can be counted again; exclusions are kept. The caller holds the lock."""
    excluded = list(CountedVote.objects.filter(excluded=True).values_list("vote_id", flat=True))
    CountedVote.objects.filter(excluded=False).delete()
    CountedVote.objects.update(counted=False)
    VoteCount.objects.exclude(votes__vote_id__in=excluded).delete()
    VoteCount.objects.update(**dict.fromkeys(OUTCOMES, 0))
    ClosedDay.objects.all().delete()
    PastDay.objects.all().delete()
    ClassicElo.objects.all().delete()
    raise_revision()


def exclude_votes(keys: Collection[int]) -> int:
    """Take votes out of the counts; returns how many were not excluded before."""
    return _set_excluded(keys, True)


def restore_votes(keys: Collection[int]) -> int:
    """Undo `exclude_votes`. A vote whose voter is excluded stays out until the voter is restored too."""
    return _set_excluded(keys, False)


def exclude_voter(voter: str) -> int:
    """Exclude all votes of a voter, future ones included; returns how many were taken out of the counts."""
    with transaction.atomic():
        lock_rankings()
        ExcludedVoter.objects.get_or_create(voter=voter)
        return _move(_rows(CountedVote.objects.filter(vote__user_id=voter, counted=True)), -1)


def restore_voter(voter: str) -> int:
    """Undo `exclude_voter`; votes excluded one by one stay excluded. Returns how many count again."""
    with transaction.atomic():
        lock_rankings()
        ExcludedVoter.objects.filter(voter=voter).delete()
        return _move(_rows(CountedVote.objects.filter(vote__user_id=voter, counted=False, excluded=False)), 1)


def rename_voter(old: str, new: str, *, moved: bool) -> None:
    """Give all votes and counts of one voter to another, who may have some. `moved`: mark these votes as moved.

    If one of the two is excluded, the other is from now on: nobody gets rid of an exclusion by a new id.
    """
    with transaction.atomic():
        lock_rankings()
        shut_out = ExcludedVoter.objects.filter(voter__in=(old, new))
        if shut_out.exists():
            exclude_voter(old)
            exclude_voter(new)
            ExcludedVoter.objects.filter(voter=old).delete()
        rows = list(VoteCount.objects.filter(voter=old).order_by("pk"))
        for first in range(0, len(rows), BATCH):
            _give(rows[first : first + BATCH], new)
        _reopen({row.day for row in rows})
        if past_days.forget({moment.astimezone(UTC).date() for moment in _moments(old)}):
            raise_revision()
        Vote.objects.filter(user_id=old).update(user_id=new, **({"moved": True} if moved else {}))


def _moments(voter: str) -> Iterator[datetime]:
    return Vote.objects.filter(user_id=voter).order_by().values_list("voted_at", flat=True).iterator()


def _give(rows: list[VoteCount], voter: str) -> None:
    """Add these rows of counts to those of this voter, and delete them."""
    cells = {row.pk: Cell(*(getattr(row, name) for name in Cell._fields))._replace(voter=voter) for row in rows}
    sums = {(cells[row.pk], outcome): getattr(row, outcome) for row in rows for outcome in OUTCOMES}
    targets = _raise(set(cells.values()), sums)
    for key, cell in cells.items():
        CountedVote.objects.filter(count_id=key).update(count_id=targets[cell])
    VoteCount.objects.filter(pk__in=cells).delete()


def cells_of(votes: Iterable[Vote]) -> dict[int, Cell]:
    """Primary key of a vote -> the row of counts that it belongs to."""
    some = list(votes)
    return _cells(some, _tasks({vote.battle_id for vote in some}))


def _cells(some: Iterable[Vote], tasks: Mapping[str, str]) -> dict[int, Cell]:
    """`tasks`: battle -> its task; battles without a task may be missing."""
    return {
        vote.pk: Cell(
            vote.setting,
            vote.scene,
            tasks.get(vote.battle_id, ""),
            vote.left_model_id,
            vote.right_model_id,
            vote.user_id or "",
            _day(vote),
            vote.network,
        )
        for vote in some
    }


def _day(vote: Vote) -> date:
    return vote.voted_at.astimezone(UTC).date()


def _count(votes: list[Vote]) -> int:
    known = set(CountedVote.objects.filter(vote_id__in=[vote.pk for vote in votes]).values_list("vote_id", flat=True))
    spoiled = Vote.objects.filter(pk__in=[vote.pk for vote in votes], battle__spoiled=True)
    left_out = known | set(spoiled.values_list("pk", flat=True))
    new = [vote for vote in votes if vote.pk not in left_out and vote.purpose == Purpose.RANK]
    if not new:
        return 0
    _reopen({_day(vote) for vote in new})
    return _count_new(new, _tasks({vote.battle_id for vote in new}))


def _count_new(new: list[Vote], tasks: Mapping[str, str]) -> int:
    """Three queries, however many votes there are. The caller holds the lock. `tasks`: battle -> its task."""
    cells = _cells(new, tasks)
    voters = {vote.user_id for vote in new if vote.user_id}
    shut_out = set(ExcludedVoter.objects.filter(voter__in=voters).values_list("voter", flat=True))
    counting = Counter((cells[vote.pk], vote.vote) for vote in new if vote.user_id not in shut_out)
    rows = _raise(set(cells.values()), counting)
    CountedVote.objects.bulk_create(
        CountedVote(vote=vote, count_id=rows[cells[vote.pk]], counted=vote.user_id not in shut_out) for vote in new
    )
    return len(new)


def _raise(cells: set[Cell], votes: Mapping[tuple[Cell, str], int]) -> dict[Cell, int]:
    """Add to the sums of these cells, creating missing rows; returns each row's primary key.

    `votes`: (cell, outcome) -> how many.
    """
    columns = ", ".join([*Cell._fields, *OUTCOMES])
    row = f"({', '.join(['%s'] * (len(Cell._fields) + len(OUTCOMES)))})"
    sums = ", ".join(f"{name} = vote_counts.{name} + excluded.{name}" for name in OUTCOMES)
    params: list[Any] = []
    for cell in sorted(cells):
        *words, day, network = cell
        params += [
            *words,
            connection.ops.adapt_datefield_value(day),
            network,
            *(votes.get((cell, each), 0) for each in OUTCOMES),
        ]
    found = VoteCount.objects.raw(
        f"INSERT INTO vote_counts ({columns}) VALUES {', '.join([row] * len(cells))} "  # noqa: S608 - names of ours
        f"ON CONFLICT ({', '.join(Cell._fields)}) DO UPDATE SET {sums} RETURNING *",
        params,
    )
    return {Cell(*(getattr(row, name) for name in Cell._fields)): row.pk for row in found}


def _set_excluded(keys: Collection[int], excluded: bool) -> int:
    with transaction.atomic():
        lock_rankings()
        rows = _rows(CountedVote.objects.filter(vote_id__in=keys, excluded=not excluded))
        CountedVote.objects.filter(pk__in=[row.pk for row in rows]).update(excluded=excluded)
        voters = {row.vote.user_id for row in rows}
        shut_out = set(ExcludedVoter.objects.filter(voter__in=voters).values_list("voter", flat=True))
        if excluded:
            _move([row for row in rows if row.counted], -1)
        else:
            _move([row for row in rows if not row.counted and row.vote.user_id not in shut_out], 1)
        return len(rows)


def _move(rows: list[CountedVote], sign: int) -> int:
    """Add rows of the ledger, freshly read, to the sums (1) or subtract them (-1)."""
    if not rows:
        return 0
    counts = {row.count_id: row.count for row in rows}
    for row in rows:
        count = counts[row.count_id]
        setattr(count, row.vote.vote, getattr(count, row.vote.vote) + sign)
    VoteCount.objects.bulk_update(counts.values(), list(OUTCOMES), batch_size=BATCH)
    for first in range(0, len(rows), BATCH):
        keys = [row.pk for row in rows[first : first + BATCH]]
        CountedVote.objects.filter(pk__in=keys).update(counted=sign > 0)
    _reopen({row.count.day for row in rows})
    ClassicElo.objects.update(stale=True)
    return len(rows)


def _reopen(days: Collection[date]) -> None:
    """Delete the copies of days whose counts have changed, and make a publication begin again that has read the counts
    already. Casting a vote need do neither: see `closed_days.closing` and `publication.aggregation`."""
    if days:
        ClosedDay.objects.filter(day__in=days).delete()
        raise_revision()


def _rows(which: QuerySet[CountedVote]) -> list[CountedVote]:
    return list(which.select_related("vote", "count").order_by("vote_id"))


def _tasks(battle_ids: set[str]) -> dict[str, str]:
    """Battle -> the task of all its completed turns; "" for free text and for several tasks."""
    instructions: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    turns = Turn.objects.filter(battle_id__in=battle_ids).judged().completed()
    said = turns.values_list("battle_id", "session__kind", "session__scene", "instruction")
    for battle_id, kind, scene, instruction in said:
        instructions[str(battle_id), kind, scene].append(instruction)
    return {battle_id: _common_task(kind, scene, each) for (battle_id, kind, scene), each in instructions.items()}


def _task_of(kind: str, scene: str, turns: Iterable[Turn]) -> str:
    """The same, of one battle and its turns."""
    judged = [turn for turn in turns if not turn.is_fork and turn_status(turn) == "completed"]
    return _common_task(kind, scene, (turn.instruction for turn in judged))


def _common_task(kind: str, scene: str, instructions: Iterable[str]) -> str:
    tasks = {kinds.get(kind).task_of(instruction, scene) for instruction in instructions}
    return next(iter(tasks)) if len(tasks) == 1 else ""
