"""The faults. Each breaks something, waits while it stays broken, mends it, and says what it did."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psutil

from tests.faults.link import LineState
from tests.faults.stage import Theatre, frozen

KILLED_PARTS = ("worker", "worker child", "web", "beat", "valkey", "mongo")
FROZEN_PARTS = ("worker", "web", "beat", "valkey", "mongo")


@dataclass(frozen=True)
class Fault:
    """`kind`: what the report counts. `cause` does it, and answers whether it could be done."""

    kind: str
    cause: Callable[[], bool]


def kills(theatre: Theatre, count: int, rng: random.Random) -> Iterator[Fault]:
    """Random kill -9, one after the other; where PostgreSQL is used, also the end of all its connections."""
    parts = [part for part in KILLED_PARTS if part in theatre.own or part not in ("valkey", "mongo")]
    parts += ["database"] if theatre.has_postgres else []
    for number in range(count):
        # Every part in turn, the order drawn anew each round: no part goes short.
        if number % len(parts) == 0:
            order = rng.sample(parts, len(parts))
        yield _kill(theatre, order[number % len(parts)], rng.uniform(0.5, 4.0))


def freezes(theatre: Theatre, seconds: float) -> Iterator[Fault]:
    for part in FROZEN_PARTS:
        if part in theatre.own or part not in ("valkey", "mongo"):
            yield Fault(f"freeze {part}", lambda part=part: _freeze(theatre, part, seconds))


def cuts(theatre: Theatre, seconds: float) -> Iterator[Fault]:
    """Every server behind its line: cut off, and connected but silent."""
    for name in theatre.lines:
        for state in (LineState.CUT, LineState.STUCK):
            yield Fault(f"{state.value} {name}", lambda name=name, state=state: _line(theatre, name, state, seconds))


def full_disk(theatre: Theatre, seconds: float) -> Iterator[Fault]:
    if theatre.disk_is_ours:
        yield Fault("full disk", lambda: _fill(theatre, seconds))


def _kill(theatre: Theatre, part: str, pause: float) -> Fault:
    def cause() -> bool:
        if part == "database":
            done = theatre.drop_database_connections() > 0
        else:
            process = theatre.process_of(part)
            done = process is not None
            if process is not None:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        time.sleep(pause)
        return done

    return Fault(f"kill {part}", cause)


def _freeze(theatre: Theatre, part: str, seconds: float) -> bool:
    process = theatre.process_of(part)
    if process is None:
        return False
    frozen([process, *process.children(recursive=True)], seconds)
    return True


def _line(theatre: Theatre, name: str, state: LineState, seconds: float) -> bool:
    line = theatre.lines[name]
    line.set(state)
    time.sleep(seconds)
    line.set(LineState.OPEN)
    return True


def _fill(theatre: Theatre, seconds: float) -> bool:
    with theatre.full_disk():
        time.sleep(seconds)
    return True
