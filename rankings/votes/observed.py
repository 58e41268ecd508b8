"""What the database knows beyond the counts: episodes, votes beside success, calibration battles, exposure.

Only battles with a vote are read, and none whose names a member of staff saw before. In a quiet hour, anything
published about battles still being judged would name their contestants (decision: blindness).
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

import numpy as np
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.utils import timezone

from arena.kinds import Kind
from arena.live.release import CANCELLED
from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Purpose, Side, Vote
from rankings.analysis.success_rates import EpisodeSums
from rankings.tally.arrays import Integers
from rankings.tally.counts import OUTCOMES
from rankings.tally.facts import EVEN, LEFT, RIGHT, UNKNOWN, Fact, VoteFacts
from rankings.tally.table import VoteTable
from rankings.tally.weights import Answers, answer, clear_winner
from rankings.trust.reliability import CalibrationResult, Controls, gold, repeat

EXPOSURE_DAYS = 30
VOTES_TESTED = 500
"""The latest votes of a voter that are tested."""


class VoterVotes(NamedTuple):
    """One voter's counted votes in the order they were cast, as places in the policies' names and in OUTCOMES."""

    voter: str
    left: Integers
    right: Integers
    outcome: Integers


def within(first: date, last: date, prefix: str = "") -> Q:
    """Votes of the days (UTC) from `first` to `last`, both included. `prefix`: the lookup that leads to the vote."""
    found = Q()
    if first > date.min:
        found &= Q(**{f"{prefix}voted_at__gte": datetime.combine(first, time.min, UTC)})
    if last < date.max:
        found &= Q(**{f"{prefix}voted_at__lt": datetime.combine(last + timedelta(days=1), time.min, UTC)})
    return found


def played(kind: Kind, first: date = date.min, last: date = date.max) -> list[EpisodeSums]:
    """Sums per contestant and task over a kind's episodes with a known goal and a vote of these days, without repeats
    and forks. References are among the contestants.

    An episode is an attempt whose success is known. Attempts in which the contestant failed are counted apart. Attempts
    that a worker or the clock ended say nothing about the contestant.
    """
    known = Q(status=AttemptStatus.COMPLETED, success__isnull=False, progress__isnull=False)
    judged = known & ~Q(termination_reason__in=kind.inconclusive)
    failed = Q(status=AttemptStatus.FAILED, termination_reason="policy_failed")
    voted = Q(turn__battle__status=BattleStatus.VOTED, turn__battle__spoiled=False)
    attempts = Attempt.objects.filter(
        judged | failed, voted, within(first, last, "turn__battle__vote__"), turn__is_fork=False, model__kind=kind.id
    )
    said = "turn__instruction", "turn__battle__session__scene"
    rows = (
        attempts.exclude(turn__battle__purpose=Purpose.REPEAT)
        .order_by()
        .values("model_id", *said)
        .annotate(
            episodes=Count("pk", filter=judged),
            successes=Count("pk", filter=judged & Q(success=True)),
            gained=Sum("progress", filter=judged),
            squares=Sum(F("progress") * F("progress"), filter=judged),
            failures=Count("pk", filter=failed),
        )
        .values_list("model_id", *said, "episodes", "successes", "gained", "squares", "failures")
    )
    return together(
        EpisodeSums(policy, task, *(value or 0 for value in figures))
        for policy, instruction, scene, *figures in rows
        if (task := kind.task_of(instruction, scene))
    )


def together(sums: Iterable[EpisodeSums]) -> list[EpisodeSums]:
    """Those of one contestant and task added up; sorted by these."""
    found: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0.0, 0.0, 0])
    for policy, task, *figures in sums:
        own = found[policy, task]
        for place, value in enumerate(figures):
            own[place] += value
    return [
        EpisodeSums(policy, task, int(n), int(successes), progress, squares, int(failures))
        for (policy, task), (n, successes, progress, squares, failures) in sorted(found.items())
    ]


class FactsAndAnswers(NamedTuple):
    """Facts of counted votes, and by kind each known voter's answers to clear battles."""

    facts: VoteFacts
    answers: dict[str, dict[str, Answers]]


class _Row(NamedTuple):
    """A vote, and sums over the attempts that it is about."""

    kind: str
    voter: str | None
    left: str
    right: str
    vote: str
    moved: bool
    setting: str
    scene: str
    task: str
    day: date
    settled_left: int
    settled_right: int
    failed: int
    unjudged: int
    left_wins: int
    right_wins: int
    left_best: float | None
    right_best: float | None
    steps_left: int | None
    steps_right: int | None

    @property
    def success(self) -> int:
        """UNKNOWN for a vote on free text or on a battle in which a side failed."""
        if not self.task or self.failed or self.unjudged:
            return UNKNOWN
        return LEFT if self.left_wins > self.right_wins else RIGHT if self.right_wins > self.left_wins else EVEN

    @property
    def clear_winner(self) -> str | None:
        """The right vote in a clear battle."""
        if not self.task or self.unjudged:
            return None
        turns = max(self.settled_left, self.settled_right)
        return clear_winner(self.left_wins, self.right_wins, self.left_best, self.right_best, turns)

    def answer(self, winner: str) -> Answers:
        """A right answer of a moved vote earns nothing: cookies could be chosen for their luck (decision: accounts)."""
        given = answer(self.vote, winner)
        return given._replace(right=0) if self.moved else given

    @property
    def fact(self) -> Fact:
        about = self.setting, self.scene, self.task, self.left, self.right, self.voter or "", self.day.isoformat()
        vote, steps = OUTCOMES.index(self.vote), (self.steps_left or 0, self.steps_right or 0)
        return Fact(*about, vote, self.success, *steps)


def facts_and_answers(first: date = date.min, last: date = date.max) -> FactsAndAnswers:
    """Of the days (UTC) from `first` to `last`, both included. Votes whose battle was not played have no facts."""
    answers: dict[str, dict[str, Answers]] = defaultdict(dict)

    def facts() -> Iterator[Fact]:
        for row in _rows(first, last):
            if row.settled_left and row.settled_right:
                yield row.fact
            if row.voter and (winner := row.clear_winner):
                own = answers[row.kind]
                own[row.voter] = own.get(row.voter, Answers()).plus(row.answer(winner))

    return FactsAndAnswers(VoteFacts.of(facts()), dict(answers))


def _rows(first: date, last: date) -> Iterator[_Row]:
    judged, attempts = Q(battle__turns__is_fork=False), "battle__turns__attempts"
    left, right = (judged & Q(**{f"{attempts}__side": side}) for side in (Side.LEFT, Side.RIGHT))
    won = Q(**{f"{attempts}__success": True})
    failed = judged & Q(**{f"{attempts}__status": AttemptStatus.FAILED})
    completed = {f"{attempts}__status": AttemptStatus.COMPLETED}
    settled = Q(**{f"{attempts}__status__in": (AttemptStatus.COMPLETED, AttemptStatus.FAILED)})
    votes = (
        Vote.objects.filter(counted_vote__counted=True, counted_vote__count__day__range=(first, last))
        .order_by()
        .annotate(
            settled_left=Count("pk", filter=left & settled),
            settled_right=Count("pk", filter=right & settled),
            # A cancelled turn says nothing about a side (decision: battles).
            failed=Count("pk", filter=failed & ~Q(**{f"{attempts}__termination_reason": CANCELLED})),
            # Played when no goal was known for these words.
            unjudged=Count("pk", filter=judged & Q(**completed, **{f"{attempts}__success": None})),
            left_wins=Count("pk", filter=left & won),
            right_wins=Count("pk", filter=right & won),
            left_best=Max(f"{attempts}__progress", filter=left),
            right_best=Max(f"{attempts}__progress", filter=right),
            steps_left=Sum(f"{attempts}__length", filter=left),
            steps_right=Sum(f"{attempts}__length", filter=right),
        )
    )
    count = "counted_vote__count__"
    columns = (
        "kind",
        "user_id",
        "left_model_id",
        "right_model_id",
        "vote",
        "moved",
        f"{count}robot_id",
        f"{count}scene_id",
    )
    rows = votes.values_list(*columns, f"{count}task_id", f"{count}day", *_Row._fields[10:])
    return itertools.starmap(_Row, rows.iterator(chunk_size=20_000))


def calibration_results(kind: Kind, first: date = date.min, last: date = date.max) -> dict[str, Controls]:
    """Voter -> sums over the conclusive calibration battles of a kind with a vote of these days."""
    found: dict[str, Controls] = defaultdict(Controls)
    given = Vote.objects.filter(within(first, last), kind=kind.id, user_id__isnull=False, battle__spoiled=False)
    for voter, item in (*_gold_items(given), *_repeat_items(given)):
        found[voter] = found[voter].plus(Controls.of(item))
    return dict(sorted(found.items()))


def _gold_items(given: QuerySet[Vote]) -> Iterator[tuple[str, CalibrationResult]]:
    """Only of battles in which one side alone reached the goal."""
    wins = Q(battle__turns__is_fork=False, battle__turns__attempts__success=True)
    votes = given.filter(purpose=Purpose.GOLD).annotate(
        left_wins=Count("pk", filter=wins & Q(battle__turns__attempts__side=Side.LEFT)),
        right_wins=Count("pk", filter=wins & Q(battle__turns__attempts__side=Side.RIGHT)),
    )
    for voter, vote, left, right in votes.values_list("user_id", "vote", "left_wins", "right_wins"):
        if bool(left) != bool(right):
            yield str(voter), gold(vote, "left_better" if left else "right_better")


def _repeat_items(given: QuerySet[Vote]) -> Iterator[tuple[str, CalibrationResult]]:
    """Without repeats that have follow-up turns: they ask another question."""
    turns = Count("battle__turns", filter=Q(battle__turns__is_fork=False))
    votes = given.filter(purpose=Purpose.REPEAT).annotate(turns=turns).filter(turns=1)
    for voter, again, first in votes.values_list("user_id", "vote", "battle__repeats__vote__vote"):
        if first in OUTCOMES:
            yield str(voter), repeat(first, again)


def cast_by_voter(kind: Kind, names: tuple[str, ...], active_since: datetime) -> Iterator[VoterVotes]:
    """The last VOTES_TESTED counted votes in a kind, of every voter with one since then."""
    place = {name: number for number, name in enumerate(names)}
    votes = Vote.objects.filter(kind=kind.id, counted_vote__counted=True, user_id__isnull=False)
    active = votes.filter(voted_at__gte=active_since).order_by().values("user_id").distinct()
    rows = votes.filter(user_id__in=active).order_by("user_id", "voted_at", "pk")
    own: deque[tuple[int, int, int]] = deque(maxlen=VOTES_TESTED)
    last = ""
    for voter, left, right, vote in rows.values_list("user_id", "left_model_id", "right_model_id", "vote").iterator():
        if voter != last and own:
            yield _cast(last, own)
            own.clear()
        last = str(voter)
        if left in place and right in place and vote in OUTCOMES:
            own.append((place[left], place[right], OUTCOMES.index(vote)))
    if own:
        yield _cast(last, own)


def _cast(voter: str, votes: Iterable[tuple[int, int, int]]) -> VoterVotes:
    left, right, outcome = np.array(list(votes), dtype=np.int64).T
    return VoterVotes(voter, left, right, outcome)


def paces(kind: Kind, voters: Collection[str]) -> dict[str, float]:
    """Voter -> the mean logarithm of the time it took for its counted votes in a kind [ms]."""
    counted = Vote.objects.filter(kind=kind.id, counted_vote__counted=True)
    votes = counted.filter(user_id__in=voters, dwell_ms__gt=0).order_by("user_id")
    looked: dict[str, list[float]] = defaultdict(list)
    for voter, dwell in votes.values_list("user_id", "dwell_ms").iterator():
        looked[str(voter)].append(math.log(dwell or 1))
    return {voter: sum(own) / len(own) for voter, own in looked.items()}


def new_voters(kind: Kind, table: VoteTable, since: datetime, least_votes: int) -> set[str]:
    """Voters with a counted vote in a kind whose first is later than `since`, or who have fewer than `least_votes`.

    Counts know only days, so the votes of the day of `since` are read too.
    """
    day = since.astimezone(UTC).date()
    midnight = datetime.combine(day, time.min, UTC)
    votes = Vote.objects.filter(kind=kind.id, counted_vote__counted=True, user_id__isnull=False).order_by()
    before = set(votes.filter(voted_at__gte=midnight, voted_at__lt=since).values_list("user_id", flat=True).distinct())
    today = day.isoformat()
    return {*table.fresh_voters(today, least_votes), *(set(table.voters_first_seen(today)) - before)}


def battles_per_policy() -> dict[str, int]:
    """How many battles with a vote each contestant had in the last EXPOSURE_DAYS days."""
    since = timezone.now() - timedelta(days=EXPOSURE_DAYS)
    voted = Battle.objects.filter(status=BattleStatus.VOTED, spoiled=False)
    battles = voted.filter(purpose=Purpose.RANK, created_at__gte=since, turns__seq=1).order_by()
    found: Counter[str] = Counter()
    for side in ("left_model_id", "right_model_id"):
        found.update(dict(battles.values_list(side).annotate(Count("pk", distinct=True))))
    return dict(found)


def votes_per_hour(kind: Kind) -> float:
    """On average over the last day, in a kind."""
    cast = Vote.objects.filter(voted_at__gte=timezone.now() - timedelta(days=1))
    # Not filtered by purpose: its index would match nearly all votes.
    return float(cast.aggregate(number=Count("pk", filter=Q(kind=kind.id, purpose=Purpose.RANK)))["number"]) / 24.0
