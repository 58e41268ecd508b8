"""An arena of honest votes in the database, the clock that it lives by, and what it publishes: for simulated crowds.

The votes are those of `rankings.study.ballots.honest`: voters with tastes, some on shared networks, who come back on
later days. In part of the battles one side alone reached the goal, and then most votes go with it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest import mock

import numpy as np
from django.test import Client, override_settings
from django.utils import timezone

from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Session, Side, StartKind, Turn, Vote
from arena.pairing import written_chances
from policies.models import Policy
from rankings import tasks
from rankings.models import Finding
from rankings.study.ballots import CLEAR, CLEAR_OF_EVEN, HONEST, WITH_SUCCESS, Ballots, Honest, honest
from rankings.study.voters import TIES, outcomes, truth
from rankings.tally.arrays import Floats
from rankings.tally.counts import OUTCOMES
from tests.crowd import INSTRUCTION, STEPS
from tests.people import logged_in, moderator
from vlaarena import settings as shipped
from vlaarena.synthetic.rows import Row, write

SHIPPED = {name: getattr(shipped, name) for name in ("RATE_LIMITS", "REPEAT_SHARE", "RELEASE")}
"""What `tests.settings` sets otherwise for tests that are about something else."""
MORNING = timedelta(hours=6)
HOUR = timedelta(hours=1)
NEVER = datetime(2000, 1, 1, tzinfo=UTC)


class Clock:
    """The time of `time.time` and of Django, so far ahead of the true time as it was moved."""

    def __init__(self) -> None:
        self._ahead, self._true = 0.0, time.time

    def time(self) -> float:
        return self._true() + self._ahead

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time(), tz=UTC)

    def forward(self, seconds: float) -> None:
        self._ahead += seconds

    def to(self, moment: datetime) -> None:
        self._ahead += (moment - self.now()).total_seconds()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Defaults of columns have taken `timezone.now` itself, so what it calls is exchanged."""
        clock = self

        class Moved(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
                return clock.now().astimezone(tz)

        with mock.patch("time.time", self.time), mock.patch("django.utils.timezone.datetime", Moved):
            yield


@contextmanager
def as_shipped() -> Iterator[Clock]:
    """Limits, repeats and the turns' clock as shipped, behind one proxy of ours; the clock stands at the next UTC
    midnight's six o'clock."""
    clock = Clock()
    with ExitStack() as stack:
        stack.enter_context(override_settings(**SHIPPED, TRUSTED_PROXIES=1))
        stack.enter_context(clock.running())
        clock.to(_midnight(clock.now()) + timedelta(days=1) + MORNING)
        yield clock


@dataclass
class Published:
    """The boards as whoever asks sees them; written each hour by the task that beat sends."""

    clock: Clock
    ratings: list[dict[str, int]] = field(default_factory=list)
    """Of every publication so far: policy -> rating."""
    _due: datetime = NEVER

    def when_due(self) -> None:
        if self.clock.now() >= self._due:
            self.now()

    def next_hour(self) -> None:
        self.clock.to(self._due)
        self.now()

    def now(self) -> None:
        self._due = self.clock.now().replace(minute=0, second=0, microsecond=0) + HOUR
        tasks.aggregate()
        self.ratings.append(ratings())

    def moved(self) -> int:
        """Points by which the most moved rating moved from the first publication, in whichever later one."""
        first = self.ratings[0]
        return max(abs(later[name] - rating) for later in self.ratings[1:] for name, rating in first.items())


def ratings() -> dict[str, int]:
    board = Client().get("/api/leaderboard").json()
    return {row["model_id"]: row["elo_score"] for row in (*board["rankings"], *board["provisional"])}


def campaigns_for(policy: str) -> list[Finding]:
    """Campaigns for this policy that a moderator finds in the admin."""
    found = Finding.objects.filter(kind=Finding.Kind.CAMPAIGN, state=Finding.State.OPEN)
    page = logged_in(moderator()).get("/admin/rankings/finding/", {"kind__exact": "campaign"}).content.decode()
    return [each for each in found.filter(evidence__policy=policy, subject__startswith="for ") if each.subject in page]


def drawn_most() -> str:
    """The policy that the last publication wants votes on most: its rating is known least, and moves most."""
    chances: Counter[str] = Counter()
    for (one, other), chance in written_chances("robots/widowx/table").items():
        chances.update({one: chance, other: chance})
    return max(sorted(chances), key=chances.__getitem__)


class Skills:
    """How good the synthetic policies are, which says how battles go."""

    def __init__(self, seed: int, crowd: Honest = HONEST) -> None:
        self._rng = np.random.default_rng(seed)
        self._theta = truth(crowd.contestants, self._rng)
        self.names = [f"synthetic-{number:02}" for number in range(crowd.contestants)]
        self.middle = self.names[int(np.argsort(self._theta)[crowd.contestants // 2])]

    def rank(self, name: str) -> int:
        """1: the best."""
        return 1 + int((self._theta > self._theta[self.names.index(name)]).sum())

    def votes(self, crowd: Honest) -> Ballots:
        return honest(self._theta, crowd, self._rng)

    def honest_vote(self, left: str, right: str) -> str:
        margin: Floats = np.array([self._theta[self.names.index(left)] - self._theta[self.names.index(right)]])
        return OUTCOMES[int(outcomes(margin, TIES, self._rng)[0])]

    def successes(self, left: str, right: str) -> tuple[bool, bool]:
        """Which side reaches the goal: one alone as often as in the honest votes, else neither."""
        likely = self.honest_vote(left, right)
        decided = likely in ("left_better", "right_better")
        if self._rng.random() >= (CLEAR if decided else CLEAR_OF_EVEN):
            return False, False
        same = self._rng.random() < (WITH_SUCCESS if decided else 0.5)
        wins = (likely == "left_better") == same
        return wins, not wins


def fill(seed: int, crowd: Honest = HONEST) -> Skills:
    """Honest votes of the days before today, all of them waiting for a publication."""
    skills = Skills(seed, crowd)
    for number, name in enumerate(skills.names):
        Policy.objects.create(
            id=name, name=name, family="film", adapter="film", provenance="Synthetic", revision=f"{number:064x}"
        )
    for model, columns, rows in _tables(skills.names, skills.votes(crowd), _midnight(timezone.now())):
        write(model, columns, rows)
    return skills


def _tables(names: list[str], votes: Ballots, end: datetime) -> Iterator[tuple[Any, list[str], Iterator[Row]]]:
    """(model, columns, rows) in an order in which every row finds what it points to."""
    cast = list(_cast(names, votes, end))
    place = ("robots", "widowx", "table")
    voters = sorted({each.voter for each in cast})
    yield Session, ["session_id", "kind", "setting", "scene", "user_id"], ((f"sess_{v}", *place, v) for v in voters)
    columns = ["battle_id", "session_id", "seq_in_session", "left_model_id", "right_model_id", "seed", "status"]
    columns += ["created_at", "updated_at"]
    voted = str(BattleStatus.VOTED)
    yield (
        Battle,
        columns,
        ((f"battle_{n}", f"sess_{e.voter}", e.seq, e.left, e.right, n, voted, e.at, e.at) for n, e in enumerate(cast)),
    )
    columns = ["turn_id", "session_id", "battle_id", "battle_seq_in_session", "seq", "instruction", "start"]
    start = str(StartKind.CONTINUE)
    yield (
        Turn,
        [*columns, "settled_at", "created_at"],
        (
            (f"turn_{n}", f"sess_{e.voter}", f"battle_{n}", e.seq, 1, INSTRUCTION, start, e.at, e.at)
            for n, e in enumerate(cast)
        ),
    )
    columns = ["episode_id", "turn_id", "side", "model_id", "success", "progress", "termination_reason", "status"]
    columns += ["length", "duration_ms", "created_at", "started_at", "finished_at"]
    yield Attempt, columns, (row for n, each in enumerate(cast) for row in each.attempts(n))
    columns = ["vote_id", "battle_id", "session_id", "user_id", "kind", "setting", "scene", "left_model_id"]
    columns += ["right_model_id", "vote", "dwell_ms", "address", "network", "voted_at"]
    yield (
        Vote,
        columns,
        (
            (f"vote_{n}", f"battle_{n}", f"sess_{e.voter}", e.voter, *place, e.left, e.right, *e.said())
            for n, e in enumerate(cast)
        ),
    )


@dataclass(frozen=True)
class _Cast:
    """One honest vote. `seq`: which of its voter's; `winner`: the side that alone reached the goal, or -1."""

    voter: str
    network: str
    seq: int
    left: str
    right: str
    vote: str
    winner: int
    dwell_ms: int
    at: datetime

    def said(self) -> Row:
        return (self.vote, self.dwell_ms, self.network, self.network, self.at)

    def attempts(self, number: int) -> Iterator[Row]:
        for place, (side, name) in enumerate(((Side.LEFT, self.left), (Side.RIGHT, self.right))):
            won = self.winner == place
            said = (won, 1.0, "success") if won else (False, 0.2, "step_limit")
            done = (str(AttemptStatus.COMPLETED), STEPS, 2000.0, self.at, self.at, self.at)
            yield (f"ep_{2 * number + place}", f"turn_{number}", str(side), name, *said, *done)


def _cast(names: list[str], votes: Ballots, end: datetime) -> Iterator[_Cast]:
    """`end`: the midnight after the last day. A day's votes come evenly."""
    seqs: Counter[int] = Counter()
    of_day = np.bincount(votes.day)
    before: Counter[int] = Counter()
    columns = (votes.voter, votes.network, votes.day, votes.left, votes.right, votes.outcome, votes.winner, votes.dwell)
    for voter, network, day, left, right, outcome, winner, dwell in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        seqs[voter] += 1
        before[day] += 1
        yield _Cast(
            voter=f"honest-{voter:04}",
            network=f"{network:024x}",
            seq=seqs[voter],
            left=names[left],
            right=names[right],
            vote=OUTCOMES[outcome],
            winner=winner,
            dwell_ms=round(1000 * dwell),
            at=end - timedelta(days=len(of_day) - day - before[day] / (of_day[day] + 1)),
        )


def _midnight(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
