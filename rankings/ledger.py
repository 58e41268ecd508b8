"""Which votes count, kept with the counts in one transaction: a vote is cast, excluded, restored, and its row follows.

Every function takes the rankings' lock. Nothing else changes `VoteCount`, `CountedVote` or `ExcludedVoter`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, date
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from arena.models import Purpose, Turn, Vote
from rankings.counts import OUTCOMES
from rankings.locking import lock_rankings
from rankings.models import ClassicElo, CountedVote, ExcludedVoter, VoteCount
from simulation import catalogue

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


def take_vote(*, vote: Vote, **_: Any) -> None:
    """Listens to `arena.signals.vote_cast`, inside the transaction that stores the vote."""
    lock_rankings()
    _count_new([vote])


def count_votes(votes: Iterable[Vote]) -> int:
    """Take those votes into the counts that are not there yet and are meant for the ranking; returns how many."""
    with transaction.atomic():
        lock_rankings()
        return sum(_count(batch) for batch in _batches(votes))


def uncount_votes(keys: Collection[int]) -> int:
    """Forget votes that turned out to be faulty; returns how many were known. `keys` are primary keys throughout."""
    with transaction.atomic():
        lock_rankings()
        rows = _rows(CountedVote.objects.filter(vote_id__in=keys))
        _move([row for row in rows if row.counted], -1)
        CountedVote.objects.filter(pk__in=[row.pk for row in rows]).delete()
        return len(rows)


def forget_counts() -> None:
    """Empty the counts, so that every vote can be counted anew; exclusions stay known. The caller holds the lock."""
    excluded = list(CountedVote.objects.filter(excluded=True).values_list("vote_id", flat=True))
    CountedVote.objects.filter(excluded=False).delete()
    CountedVote.objects.update(counted=False)
    VoteCount.objects.exclude(votes__vote_id__in=excluded).delete()
    VoteCount.objects.update(**dict.fromkeys(OUTCOMES, 0))
    ClassicElo.objects.all().delete()


def exclude_votes(keys: Collection[int]) -> int:
    """Take votes out of the counts; returns how many were not excluded before."""
    return _set_excluded(keys, True)


def restore_votes(keys: Collection[int]) -> int:
    """Undo `exclude_votes`. A vote whose voter is excluded stays out until the voter is restored too."""
    return _set_excluded(keys, False)


def exclude_voter(voter: str) -> int:
    """Let no vote of this voter count, future ones included; returns how many were taken out."""
    with transaction.atomic():
        lock_rankings()
        ExcludedVoter.objects.get_or_create(voter=voter)
        return _move(_rows(CountedVote.objects.filter(vote__user_id=voter, counted=True)), -1)


def restore_voter(voter: str) -> int:
    """Undo `exclude_voter`; votes that were excluded one by one stay out. Returns how many count again."""
    with transaction.atomic():
        lock_rankings()
        ExcludedVoter.objects.filter(voter=voter).delete()
        return _move(_rows(CountedVote.objects.filter(vote__user_id=voter, counted=False, excluded=False)), 1)


def cells_of(votes: Iterable[Vote]) -> dict[int, Cell]:
    """Primary key of a vote -> the row of counts that it belongs to."""
    some = list(votes)
    tasks = _tasks({vote.battle_id for vote in some})
    return {
        vote.pk: Cell(
            vote.robot_id,
            vote.scene_id,
            tasks.get(vote.battle_id, ""),
            vote.left_model_id,
            vote.right_model_id,
            vote.user_id or "",
            vote.voted_at.astimezone(UTC).date(),
        )
        for vote in some
    }


def _count(votes: list[Vote]) -> int:
    known = set(CountedVote.objects.filter(vote_id__in=[vote.pk for vote in votes]).values_list("vote_id", flat=True))
    return _count_new([vote for vote in votes if vote.pk not in known])


def _count_new(votes: Iterable[Vote]) -> int:
    """A vote takes seven queries, however many there are. The caller holds the lock."""
    new = [vote for vote in votes if vote.purpose == Purpose.RANK]
    if not new:
        return 0
    cells = cells_of(new)
    rows = _rows_of(set(cells.values()))
    voters = {vote.user_id for vote in new if vote.user_id}
    shut_out = set(ExcludedVoter.objects.filter(voter__in=voters).values_list("voter", flat=True))
    taken = [CountedVote(vote=vote, count=rows[cells[vote.pk]], counted=vote.user_id not in shut_out) for vote in new]
    CountedVote.objects.bulk_create(taken)
    _add(rows.values(), Counter((row.count_id, row.vote.vote) for row in taken if row.counted), 1)
    return len(new)


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
    """Put rows of the ledger into the sums (1) or take them out (-1)."""
    if not rows:
        return 0
    _add([row.count for row in rows], Counter((row.count_id, row.vote.vote) for row in rows), sign)
    for first in range(0, len(rows), BATCH):
        keys = [row.pk for row in rows[first : first + BATCH]]
        CountedVote.objects.filter(pk__in=keys).update(counted=sign > 0)
    ClassicElo.objects.update(stale=True)
    return len(rows)


def _add(rows: Iterable[VoteCount], votes: Mapping[tuple[int, str], int], sign: int) -> None:
    """Change the sums. `rows`: fresh ones. `votes`: (row of counts, outcome) -> how many. The caller holds the lock."""
    by_key = {row.pk: row for row in rows}
    for (key, outcome), number in votes.items():
        setattr(by_key[key], outcome, getattr(by_key[key], outcome) + sign * number)
    changed = [by_key[key] for key in {key for key, _ in votes}]
    VoteCount.objects.bulk_update(changed, list(OUTCOMES), batch_size=BATCH)


def _rows(which: QuerySet[CountedVote]) -> list[CountedVote]:
    return list(which.select_related("vote", "count").order_by("vote_id"))


def _rows_of(cells: set[Cell]) -> dict[Cell, VoteCount]:
    """The rows of counts with these keys; missing ones are made."""
    VoteCount.objects.bulk_create((VoteCount(**cell._asdict()) for cell in sorted(cells)), ignore_conflicts=True)
    found = VoteCount.objects.filter(
        voter__in={cell.voter for cell in cells},
        day__in={cell.day for cell in cells},
        left_model_id__in={cell.left_model_id for cell in cells},
    )
    by_cell = {Cell(*(getattr(row, name) for name in Cell._fields)): row for row in found}
    return {cell: by_cell[cell] for cell in cells}


def _tasks(battle_ids: set[str]) -> dict[str, str]:
    """Battle -> the task that all its completed turns were about; "" for free text, or for several tasks."""
    found: dict[str, set[str]] = defaultdict(set)
    turns = Turn.objects.filter(battle_id__in=battle_ids).judged().completed()
    for turn in turns.only("battle_id", "instruction"):
        known = catalogue.task_for(turn.instruction)
        found[str(turn.battle_id)].add(known[0] if known else "")
    return {battle_id: next(iter(tasks)) if len(tasks) == 1 else "" for battle_id, tasks in found.items()}


def _batches(votes: Iterable[Vote]) -> Iterator[list[Vote]]:
    batch: list[Vote] = []
    for vote in votes:
        batch.append(vote)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch
