"""Episodes and calibration battles of past days as sums, so that a publication reads none of them again.

A day's sums are made two days later. They change only where its votes get another voter: `forget` marks the days, in
the same transaction. A vote that comes for such a day, because the clock was set, is found by the nightly check.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, timedelta
from typing import NamedTuple

from django.db.models.functions import TruncDate
from django.utils import timezone

from arena import kinds
from arena.kinds import Kind
from arena.models import Contestant, Vote
from rankings.analysis.success_rates import EpisodeSums
from rankings.models import PastDay
from rankings.trust.reliability import Controls, Reliability
from rankings.votes import observed
from rankings.votes.observed import within

DAY = timedelta(days=1)


class Observed(NamedTuple):
    """What was observed of one kind, on all days."""

    played: list[EpisodeSums]
    """Without references."""
    reliability: dict[str, Reliability]
    """Voter -> reliability, of each with a conclusive calibration battle."""


def missing() -> list[PastDay]:
    """The past days with votes whose sums are not kept, or out of date. Reads only."""
    return [_made(day) for day in _to_be_made()]


def keep(made: Iterable[PastDay]) -> None:
    """Write what `missing` found. The caller holds the lock of the rankings."""
    PastDay.objects.bulk_create(
        made,
        batch_size=10,
        update_conflicts=True,
        unique_fields=["day"],
        update_fields=["episodes", "controls", "stale"],
    )


def forget(days: Collection[date]) -> int:
    """Have the sums of these days made anew; returns how many there were."""
    return PastDay.objects.filter(day__in=days).update(stale=True) if days else 0


def observe(kind: Kind, made: Iterable[PastDay] = ()) -> Observed:
    """From the kept sums of past days, and from the battles of the days since. `made`: what `missing` finds, where that
    is anything."""
    kept = {each.day: each for each in PastDay.objects.filter(stale=False, day__lt=_first_not_over())}
    days = [*(kept | {each.day: each for each in made}).values()]
    first = max(each.day for each in days) + DAY if days else date.min
    listed = set(Contestant.objects.filter(kind=kind.id, reference=False).values_list("pk", flat=True))
    past = (EpisodeSums(*row) for each in days for row in each.episodes.get(kind.id, ()))
    sums = observed.together([*past, *observed.played(kind, first)])
    controls: dict[str, Controls] = defaultdict(Controls)
    of_days = (each.controls.get(kind.id, {}) for each in days)
    for voters in (*of_days, observed.calibration_results(kind, first)):
        for voter, own in voters.items():
            controls[voter] = controls[voter].plus(Controls(*own))
    known = {voter: own.reliability() for voter, own in sorted(controls.items())}
    return Observed([each for each in sums if each.contestant in listed], known)


def differing() -> Iterator[date]:
    """Kept days whose sums are not those of their battles. Days that will be made anew are left out."""
    for kept in PastDay.objects.filter(stale=False).order_by("day").iterator():
        if not _alike(kept, _made(kept.day)):
            yield kept.day


def _to_be_made() -> list[date]:
    kept = dict(PastDay.objects.values_list("day", "stale"))
    over = [day for day in kept if day < _first_not_over()]
    since = within(max(over) + DAY if over else date.min, _first_not_over() - DAY)
    new = Vote.objects.filter(since).order_by().values_list(TruncDate("voted_at", tzinfo=UTC), flat=True).distinct()
    return sorted({day for day in over if kept[day]} | set(new))


def _first_not_over() -> date:
    """Yesterday (UTC): a vote that is being cast may still belong to it."""
    return timezone.now().astimezone(UTC).date() - DAY


def _made(day: date) -> PastDay:
    episodes = {kind.id: [[*each] for each in observed.played(kind, day, day)] for kind in kinds.every()}
    controls = {
        kind.id: {voter: [*own] for voter, own in observed.calibration_results(kind, day, day).items()}
        for kind in kinds.every()
    }
    return PastDay(day=day, episodes=episodes, controls=controls)


def _alike(one: PastDay, other: PastDay) -> bool:
    """Databases may add up in another order each time: the last digits of progress are not compared."""
    mine, theirs = _rows(one.episodes), _rows(other.episodes)
    return (
        one.controls == other.controls
        and mine.keys() == theirs.keys()
        and all(_close(mine[key], theirs[key]) for key in mine)
    )


def _rows(episodes: dict[str, list[list[str | float]]]) -> dict[tuple[str, ...], Sequence[float]]:
    rows = ((kind, row) for kind, own in episodes.items() for row in own)
    return {(kind, *map(str, row[:2])): [float(each) for each in row[2:]] for kind, row in rows}


def _close(one: Sequence[float], other: Sequence[float]) -> bool:
    return len(one) == len(other) and all(math.isclose(*each, abs_tol=1e-6) for each in zip(one, other, strict=True))
