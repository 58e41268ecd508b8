#!/usr/bin/env python3
"""`make capacity`: simulates an arena with many visitors, from the costs that were measured on one machine.

Visitors come at random and play one battle after the other. Each request waits for a web process, each turn for the
lock of admission and for two worker processes, each vote for the lock of the counts. docs/scaling.md shows the answers
beside measured ones and says what they leave out. Numbers in, numbers out: nothing of the arena runs.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from heapq import heappop, heappush
from itertools import count
from typing import Any

BUSY = 0.7
"""Share of its time for which a process may be busy, so that one that is unlucky for a while catches up again."""


@dataclass(frozen=True)
class Costs:
    """Of the shipped arena on one core of an AMD EPYC, with PostgreSQL; docs/scaling.md names each source."""

    request_s: float = 0.55 / 65.4  # processor seconds of a web process per request, files included
    request_wait_s: float = 0.008  # of a request for the database and others, while nothing else waits
    rollout_s: float = 0.092  # processor seconds of a rollout of film-base with 50 steps
    rollout_wait_s: float = 0.12  # of a rollout for queue, database and store: its worker process is taken meanwhile
    admission_s: float = 0.0047  # for which a turn holds the lock of admission
    vote_s: float = 0.0033  # for which a vote holds the lock of the counts
    socket_kb: float = 60.0  # memory of an open socket in a web process
    web_mb: float = 165.0
    worker_mb: float = 380.0
    turn_kb: float = 60.0  # two recordings in the store
    shown_s: float = 11.0  # a turn at the robot's own speed


@dataclass(frozen=True)
class Habits:
    """What a visitor does; guesses but for the requests, which were counted."""

    battles: float = 4.0  # mean, geometrically distributed
    turns: float = 1.3  # of a battle, mean
    thinks_s: float = 12.0  # before a turn, and before a vote; exponentially distributed
    first_requests: int = 14  # the page and its files, with an empty cache
    requests: int = 20  # of a battle


@dataclass(frozen=True)
class Arena:
    web: int
    workers: int
    costs: Costs = Costs()


@dataclass
class Station:
    """Servers with one queue, first come first served; `busy_s` adds up over all of them."""

    servers: int
    free: list[float]
    busy_s: float = 0.0

    @classmethod
    def of(cls, servers: int) -> Station:
        return cls(servers, [0.0] * servers)

    def serve(self, now: float, seconds: float) -> float:
        """When a customer that comes now is done. Customers must come in order of time."""
        began = max(now, heappop(self.free))
        heappush(self.free, began + seconds)
        self.busy_s += seconds
        return began + seconds


class Day:
    """One run. Customers are served in order of time: events of all visitors are one heap."""

    def __init__(self, arena: Arena, habits: Habits, visitors_per_hour: float, hours: float, seed: int) -> None:
        self.arena, self.habits, self.rate, self.end = arena, habits, visitors_per_hour / 3600.0, hours * 3600.0
        self.rng = random.Random(seed)
        self.web = [Station.of(1) for _ in range(arena.web)]
        self.workers, self.admission, self.counts = Station.of(arena.workers), Station.of(1), Station.of(1)
        self.requests: list[float] = []
        self.turns: list[float] = []
        self.votes: list[float] = []
        self.stay_s = 0.0
        self._events: list[tuple[float, int, Iterator[float]]] = []
        self._number = count()

    def run(self) -> Day:
        arrival = self.rng.expovariate(self.rate)
        while self._events or arrival < self.end:
            if arrival < self.end and (not self._events or arrival <= self._events[0][0]):
                self._wake(arrival, self._visitor(arrival))
                arrival += self.rng.expovariate(self.rate)
                continue
            now, _, visitor = heappop(self._events)
            self._wake(now, visitor)
        return self

    def _wake(self, now: float, visitor: Iterator[float]) -> None:
        """Let a visitor go on; what it yields is when it does so again."""
        following = next(visitor, None)
        if following is not None:
            heappush(self._events, (max(now, following), next(self._number), visitor))

    def _visitor(self, now: float) -> Iterator[float]:
        came, habits = now, self.habits
        for _ in range(habits.first_requests):
            now = self._request(now)
            yield now
        while True:
            for _ in range(max(0, habits.requests - 4)):
                now = self._request(now)
                yield now
            while True:
                now += self._thinks()
                yield now
                now = yield from self._turn(now)
                if self.rng.random() > 1.0 - 1.0 / habits.turns:
                    break
            now += self._thinks()
            yield now
            now = yield from self._vote(now)
            if self.rng.random() < 1.0 / habits.battles:
                self.stay_s += now - came
                return

    def _thinks(self) -> float:
        return self.rng.expovariate(1.0 / self.habits.thinks_s)

    def _request(self, now: float) -> float:
        """The web process is drawn, as where several accept from one socket; its work is exponentially distributed."""
        costs = self.arena.costs
        done = self.rng.choice(self.web).serve(now, self.rng.expovariate(1.0 / costs.request_s)) + costs.request_wait_s
        self.requests.append(done - now)
        return done

    def _turn(self, now: float) -> Generator[float, None, float]:
        costs = self.arena.costs
        sent = now
        now = self._request(now)
        yield now
        now = self.admission.serve(now, costs.admission_s)
        yield now
        one, other = (self.workers.serve(now, costs.rollout_s + costs.rollout_wait_s) for _ in range(2))
        self.turns.append(max(one, other) - sent)
        now = max(one, other, sent + costs.shown_s)
        yield now
        return now

    def _vote(self, now: float) -> Generator[float, None, float]:
        sent = now
        now = self._request(now)
        yield now
        now = self.counts.serve(now, self.arena.costs.vote_s)
        yield now
        self.votes.append(now - sent)
        return now


@dataclass(frozen=True)
class Answer:
    """Times in ms, shares in 0..1, GB."""

    web: int
    workers: int
    requests_per_s: float
    turns_per_s: float
    visitors_at_once: float
    request_p50_ms: float
    request_p95_ms: float
    turn_p95_ms: float
    vote_p95_ms: float
    web_busy: float
    workers_busy: float
    admission_busy: float
    counts_busy: float
    memory_gb: float
    store_gb_a_day: float
    breaks_first: str


def answer(day: Day) -> Answer:
    """What a run showed. What is busiest breaks first."""
    costs, arena, span = day.arena.costs, day.arena, day.end
    busy = {
        "the lock of the counts": day.counts.busy_s / span,
        "the lock of admission": day.admission.busy_s / span,
        "workers": day.workers.busy_s / span / arena.workers,
        "web processes": sum(one.busy_s for one in day.web) / span / arena.web,
    }
    at_once = day.stay_s / span
    memory_mb = arena.web * costs.web_mb + arena.workers * costs.worker_mb + at_once * costs.socket_kb / 1e3
    return Answer(
        web=arena.web,
        workers=arena.workers,
        requests_per_s=round(len(day.requests) / span, 2),
        turns_per_s=round(len(day.turns) / span, 3),
        visitors_at_once=round(at_once, 1),
        request_p50_ms=_percentile(day.requests, 50),
        request_p95_ms=_percentile(day.requests, 95),
        turn_p95_ms=_percentile(day.turns, 95),
        vote_p95_ms=_percentile(day.votes, 95),
        web_busy=round(busy["web processes"], 3),
        workers_busy=round(busy["workers"], 3),
        admission_busy=round(busy["the lock of admission"], 3),
        counts_busy=round(busy["the lock of the counts"], 3),
        memory_gb=round(memory_mb / 1e3, 2),
        store_gb_a_day=round(len(day.turns) / span * 86_400 * costs.turn_kb / 1e6, 2),
        breaks_first=max(busy, key=busy.__getitem__),
    )


def _percentile(values: list[float], share: int) -> float:
    return round(1e3 * statistics.quantiles(values, n=100)[share - 1], 1) if len(values) > 1 else 0.0


def enough(visitors_per_hour: float, habits: Habits, costs: Costs) -> Arena:
    """The fewest processes that are busy for at most BUSY of their time."""
    battles_s = visitors_per_hour / 3600.0 * habits.battles
    turns_s = battles_s * habits.turns
    requests_s = battles_s * (habits.requests - 4 + 1) + turns_s + visitors_per_hour / 3600.0 * habits.first_requests
    web = requests_s * costs.request_s / BUSY
    workers = 2 * turns_s * (costs.rollout_s + costs.rollout_wait_s) / BUSY
    return Arena(max(1, -int(-web // 1)), max(1, -int(-workers // 1)), costs)


def simulate(
    visitors_per_hour: float, *, hours: float, seed: int = 0, arena: Arena | None = None, habits: Habits = Habits()
) -> Answer:
    """`arena`: by default the fewest processes that suffice. Raises ValueError for no visitors or no time."""
    if visitors_per_hour <= 0 or hours <= 0:
        raise ValueError(f"expected more than 0 visitors and hours, got {visitors_per_hour:g} and {hours:g}")
    arena = arena or enough(visitors_per_hour, habits, Costs())
    return answer(Day(arena, habits, visitors_per_hour, hours, seed).run())


OF_THE_LOAD = Habits(battles=5.0, turns=1.3, thinks_s=3.0, first_requests=26, requests=12)
"""The visitors of `make load`, who sent 65.4 requests and 5.33 turns a second in the run below."""
LOADED_AT = 3600 * 5.33 / (OF_THE_LOAD.battles * OF_THE_LOAD.turns)
"""Visitors an hour who send as many turns."""
THREE_STEPS = Costs(rollout_s=0.34 / (2 * 5.33), rollout_wait_s=0.05)
ELEVEN_A_SECOND = replace(THREE_STEPS, rollout_s=0.1, rollout_wait_s=2 / 11 - 0.1)
"""Of the Intel Xeon, whose two worker processes played at most eleven rollouts a second."""
MEASURED = (
    (
        "AMD, two web and three worker processes",
        Arena(2, 3, THREE_STEPS),
        {"requests_per_s": 65.4, "web_busy": 0.275, "request_p50_ms": 16.0, "request_p95_ms": 74.0},
    ),
    ("Intel, two worker processes, the calmer day", Arena(2, 2, ELEVEN_A_SECOND), {"turn_p95_ms": 5000.0}),
)
"""Twenty minutes of `make load` each: what ran, and what it showed."""


def compared() -> list[dict[str, Any]]:
    """Each measured run beside its simulation."""
    found = []
    for name, arena, measured in MEASURED:
        simulated = asdict(simulate(LOADED_AT, hours=1 / 3, arena=arena, habits=OF_THE_LOAD))
        found.append({"run": name, "measured": measured, "simulated": {key: simulated[key] for key in measured}})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("visitors", nargs="*", type=float, default=[10, 1000, 100_000], help="an hour")
    parser.add_argument("--web", type=int, help="web processes; by default the fewest that suffice")
    parser.add_argument("--workers", type=int, help="worker processes, likewise")
    parser.add_argument("--rollout-s", type=float, default=Costs.rollout_s, help="processor seconds of a rollout")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true", help="simulate the runs that were measured, instead")
    options = parser.parse_args()
    if options.check:
        print(json.dumps(compared(), indent=1))
        return
    found = []
    for visitors in options.visitors:
        costs = replace(Costs(), rollout_s=options.rollout_s)
        wanted = enough(visitors, Habits(), costs)
        arena = Arena(options.web or wanted.web, options.workers or wanted.workers, costs)
        hours = max(0.05, min(50.0, 2000.0 / visitors))
        simulated = simulate(visitors, hours=hours, seed=options.seed, arena=arena)
        found.append({"visitors_an_hour": visitors} | asdict(simulated))
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
