"""The simulation of `make capacity` follows queueing theory where theory has an answer, and the runs of `make load`."""

from __future__ import annotations

import math
import random

import pytest

from scripts.capacity import BUSY, Arena, Costs, Habits, Station, compared, enough, simulate


def test_one_server_makes_its_customers_wait_as_queueing_theory_says() -> None:
    """Poisson arrivals, exponential service: the time in the system is exponential with mean 1 / (mu - lambda)."""
    rng, station, now, times = random.Random(1), Station.of(1), 0.0, []
    for _ in range(60_000):
        now += rng.expovariate(0.6)
        times.append(station.serve(now, rng.expovariate(1.0)) - now)
    times.sort()
    assert sum(times) / len(times) == pytest.approx(1 / 0.4, rel=0.06)
    assert times[int(0.95 * len(times))] == pytest.approx(-math.log(0.05) / 0.4, rel=0.08)
    assert station.busy_s / now == pytest.approx(0.6, rel=0.03)


def test_it_shows_what_the_measured_runs_showed() -> None:
    loaded, workers = compared()
    for name, seen in loaded["measured"].items():
        assert 0.5 * seen <= loaded["simulated"][name] <= 1.5 * seen, name
    assert 0.3 * workers["measured"]["turn_p95_ms"] <= workers["simulated"]["turn_p95_ms"]
    assert workers["simulated"]["turn_p95_ms"] <= 3 * workers["measured"]["turn_p95_ms"]


def test_the_processes_that_it_asks_for_are_busy_as_long_as_they_may() -> None:
    found = simulate(5_000, hours=0.5)
    assert 0.75 * BUSY <= found.workers_busy <= 1.15 * BUSY
    assert found.web_busy <= 1.15 * BUSY
    assert found.turn_p95_ms < 2000


def test_one_worker_less_than_is_needed_makes_turns_wait_longer() -> None:
    arena = enough(5_000, Habits(), Costs())
    fewer = simulate(5_000, hours=0.5, arena=Arena(arena.web, arena.workers - 2))
    assert fewer.turn_p95_ms > 2 * simulate(5_000, hours=0.5, arena=arena).turn_p95_ms
    assert fewer.breaks_first == "workers"


def test_the_same_seed_gives_the_same_answer_and_no_visitors_are_refused() -> None:
    assert simulate(200, hours=1, seed=4) == simulate(200, hours=1, seed=4) != simulate(200, hours=1, seed=5)
    with pytest.raises(ValueError, match="more than 0 visitors and hours, got 0 and 1"):
        simulate(0, hours=1)
