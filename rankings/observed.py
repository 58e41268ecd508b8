"""What the database says beyond the counts: episodes, votes beside physics, control battles, who was drawn.

Only battles with their vote are looked at, and none whose names a member of staff saw before: of a quiet hour, whatever
a publication said of battles still being judged would name their policies (decision 751).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

import numpy as np
from django.db.models import Count, F, Max, Q, Sum
from django.utils import timezone

from arena.models import Battle, BattleStatus, Purpose, Rollout, RolloutStatus, Side, Vote
from rankings.agreement import EVEN, LEFT, RIGHT, Seen
from rankings.counts import OUTCOMES, Integers
from rankings.physics import Played
from rankings.reliability import Reliability, gold_score, reliability, repeat_score
from rankings.table import Table
from rankings.trust import Answers, answer, clear_winner
from simulation import catalogue

EXPOSURE_DAYS = 30
VOTES_TESTED = 500
"""The last so many votes of a voter are tested."""


class Cast(NamedTuple):
    """One voter's counted votes in the order they were cast, as places in the policies' names and in OUTCOMES."""

    voter: str
    left: Integers
    right: Integers
    outcome: Integers


def played() -> list[Played]:
    """Sums per policy and task over the episodes of contestants whose instruction has a known goal and whose battle has
    its vote, repeats and explorations aside.

    An episode is a rollout of which physics has a verdict. One in which the policy failed has none and is counted by
    itself; what a worker or the clock broke off says nothing of the policy.
    """
    told = Q(status=RolloutStatus.COMPLETED, success__isnull=False, progress__isnull=False)
    judged = told & ~Q(termination_reason="time_limit")
    failed = Q(status=RolloutStatus.FAILED, termination_reason="policy_failed")
    voted = Q(turn__battle__status=BattleStatus.VOTED, turn__battle__spoiled=False)
    rollouts = Rollout.objects.filter(judged | failed, voted, turn__exploration=False, model__reference=False)
    rollouts = rollouts.exclude(turn__battle__purpose=Purpose.REPEAT)
    rows = (
        rollouts.order_by()
        .values("model_id", "turn__instruction")
        .annotate(
            episodes=Count("pk", filter=judged),
            successes=Count("pk", filter=judged & Q(success=True)),
            gained=Sum("progress", filter=judged),
            squares=Sum(F("progress") * F("progress"), filter=judged),
            failures=Count("pk", filter=failed),
        )
        .values_list("model_id", "turn__instruction", "episodes", "successes", "gained", "squares", "failures")
    )
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0, 0.0, 0.0, 0])
    for policy, instruction, *figures in rows:
        if known := catalogue.task_for(instruction):
            own = sums[policy, known[0]]
            for place, value in enumerate(figures):
                own[place] += value or 0
    return [
        Played(policy, task, int(n), int(successes), progress, squares, int(failures))
        for (policy, task), (n, successes, progress, squares, failures) in sorted(sums.items())
    ]


class BesidePhysics(NamedTuple):
    """Counted votes on battles about one task, with who reached the goal more often in them; and what each known voter
    said in calibration battles."""

    seen: list[Seen]
    answers: dict[str, Answers]


def votes_beside_physics(first: date = date.min, last: date = date.max) -> list[Seen]:
    return beside_physics(first, last).seen


def beside_physics(first: date = date.min, last: date = date.max) -> BesidePhysics:
    """Of the days (UTC) from `first` to `last`, both included."""
    asked = Q(battle__turns__exploration=False)
    judged, progress = asked & Q(battle__turns__rollouts__success=True), "battle__turns__rollouts__progress"
    votes = (
        Vote.objects.filter(counted_vote__counted=True, counted_vote__count__day__range=(first, last))
        .exclude(counted_vote__count__task_id="")
        .order_by()
        .annotate(
            left_wins=Count("pk", filter=judged & Q(battle__turns__rollouts__side=Side.LEFT)),
            right_wins=Count("pk", filter=judged & Q(battle__turns__rollouts__side=Side.RIGHT)),
            left_best=Max(progress, filter=asked & Q(battle__turns__rollouts__side=Side.LEFT)),
            right_best=Max(progress, filter=asked & Q(battle__turns__rollouts__side=Side.RIGHT)),
        )
    )
    columns = ("user_id", "left_model_id", "right_model_id", "counted_vote__count__task_id", "vote")
    rows = votes.values_list(*columns, "left_wins", "right_wins", "left_best", "right_best")
    seen: Counter[Seen] = Counter()
    answers: dict[str, Answers] = {}
    for voter, left, right, task, vote, left_wins, right_wins, *best in rows.iterator(chunk_size=20_000):
        seen[Seen(left, right, task, vote, _better(left_wins, right_wins))] += 1
        if voter and (winner := clear_winner(left_wins, right_wins, *best)):
            answers[voter] = answers.get(voter, Answers()).plus(answer(vote, winner))
    kinds = [each._replace(number=number) for each, number in seen.items()]
    return BesidePhysics(summed(kinds), dict(sorted(answers.items())))


def _better(left_wins: int, right_wins: int) -> int:
    return LEFT if left_wins > right_wins else RIGHT if right_wins > left_wins else EVEN


def summed(seen: Iterable[Seen]) -> list[Seen]:
    """Each kind once, sorted."""
    found: Counter[tuple[str, str, str, str, int]] = Counter()
    for left, right, task, vote, physics, number in seen:
        found[left, right, task, vote, physics] += number
    return [Seen(*kind, number) for kind, number in sorted(found.items())]


def controls() -> dict[str, Reliability]:
    """Voter -> reliability, of everybody who voted on a control battle that says something."""
    scores: dict[str, list[float]] = defaultdict(list)
    for voter, score in (*_gold_scores(), *_repeat_scores()):
        scores[voter].append(score)
    return {voter: reliability(own) for voter, own in sorted(scores.items())}


def _gold_scores() -> Iterator[tuple[str, float]]:
    """Only where physics bears out who was to win."""
    wins = Q(battle__turns__exploration=False, battle__turns__rollouts__success=True)
    given = Vote.objects.filter(purpose=Purpose.GOLD, user_id__isnull=False, battle__spoiled=False)
    votes = given.annotate(
        left_wins=Count("pk", filter=wins & Q(battle__turns__rollouts__side=Side.LEFT)),
        right_wins=Count("pk", filter=wins & Q(battle__turns__rollouts__side=Side.RIGHT)),
    )
    for voter, vote, left, right in votes.values_list("user_id", "vote", "left_wins", "right_wins"):
        if bool(left) != bool(right):
            yield str(voter), gold_score(vote, "left_better" if left else "right_better")


def _repeat_scores() -> Iterator[tuple[str, float]]:
    """A repeat with follow-up turns is not the same question any more."""
    turns = Count("battle__turns", filter=Q(battle__turns__exploration=False))
    given = Vote.objects.filter(purpose=Purpose.REPEAT, user_id__isnull=False, battle__spoiled=False)
    votes = given.annotate(turns=turns).filter(turns=1)
    for voter, again, first in votes.values_list("user_id", "vote", "battle__repeats__vote__vote"):
        if first in OUTCOMES:
            yield str(voter), repeat_score(first, again)


def cast_by_voter(names: tuple[str, ...], active_since: datetime) -> Iterator[Cast]:
    """Of every voter who has voted since then, the last VOTES_TESTED counted votes."""
    place = {name: number for number, name in enumerate(names)}
    votes = Vote.objects.filter(counted_vote__counted=True, user_id__isnull=False)
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


def _cast(voter: str, votes: Iterable[tuple[int, int, int]]) -> Cast:
    left, right, outcome = np.array(list(votes), dtype=np.int64).T
    return Cast(voter, left, right, outcome)


def paces(voters: Collection[str]) -> dict[str, float]:
    """Voter -> the mean logarithm of how long it looked before its counted votes [ms]."""
    votes = Vote.objects.filter(counted_vote__counted=True, user_id__in=voters, dwell_ms__gt=0).order_by("user_id")
    looked: dict[str, list[float]] = defaultdict(list)
    for voter, dwell in votes.values_list("user_id", "dwell_ms").iterator():
        looked[str(voter)].append(math.log(dwell or 1))
    return {voter: sum(own) / len(own) for voter, own in looked.items()}


def new_voters(table: Table, since: datetime, least_votes: int) -> set[str]:
    """Voters with a counted vote whose first is younger than that, or who have fewer than `least_votes`.

    Asks the counts, which know days; votes are read of the one day that `since` cuts.
    """
    day = since.astimezone(UTC).date()
    midnight = datetime.combine(day, time.min, UTC)
    votes = Vote.objects.filter(counted_vote__counted=True, user_id__isnull=False).order_by()
    before = votes.filter(voted_at__gte=midnight, voted_at__lt=since).values_list("user_id", flat=True).distinct()
    old_that_day = set(before)
    found = set()
    for voter, own in table.voters().items():
        young = own.first_day > day.isoformat() or (own.first_day == day.isoformat() and voter not in old_that_day)
        if young or own.votes < least_votes:
            found.add(voter)
    return found


def battles_per_policy() -> dict[str, int]:
    """How often each policy was drawn for a battle that came to its vote, in the last EXPOSURE_DAYS days."""
    since = timezone.now() - timedelta(days=EXPOSURE_DAYS)
    voted = Battle.objects.filter(status=BattleStatus.VOTED, spoiled=False)
    battles = voted.filter(purpose=Purpose.RANK, created_at__gte=since, turns__seq=1).order_by()
    found: Counter[str] = Counter()
    for side in ("left_model_id", "right_model_id"):
        found.update(dict(battles.values_list(side).annotate(Count("pk", distinct=True))))
    return dict(found)


def votes_per_hour() -> float:
    """On average over the last day."""
    cast = Vote.objects.filter(voted_at__gte=timezone.now() - timedelta(days=1))
    # Not filtered by purpose, whose index leads to nearly all votes.
    return float(cast.aggregate(number=Count("pk", filter=Q(purpose=Purpose.RANK)))["number"]) / 24.0
