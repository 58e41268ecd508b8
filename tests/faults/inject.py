"""The faults. Each breaks something, waits while it stays broken, mends it, and says what it did."""

from __future__ import annotations

import contextlib
import random
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import psutil

from tests.faults.link import LineState
from tests.faults.stage import Theatre, frozen
from vlaarena.supervisor.child import DEATHS_ALLOWED, DEATHS_WINDOW_S

PACE_MARGIN_S = 10.0
STARTS_WITHIN_S = 90.0
HOUR_S = 3600
JUMPS_S = (HOUR_S, 0, -HOUR_S, 0, 30 * HOUR_S, -30 * HOUR_S, 0)
"""Where the clock stands, one after the other, against the true time. Each change is a jump."""


@dataclass(frozen=True)
class Fault:
    """`kind`: what the report counts. `cause` does it, and answers whether it could be done.

    `settles`: wait afterwards until the arena is well again; else the next fault may come at once.
    """

    kind: str
    cause: Callable[[], bool]
    settles: bool = True


class Pace:
    """Holds kills of one part back to as many as the arena puts up with as it ships: one more would end it, rightly."""

    def __init__(self, allowed: int = DEATHS_ALLOWED - 1, window_s: float = DEATHS_WINDOW_S + PACE_MARGIN_S) -> None:
        self._window_s = window_s
        self._killed: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=allowed))

    def keep(self, part: str) -> None:
        """Wait until the part may be killed, and count that as done."""
        killed = self._killed[part]
        if len(killed) == killed.maxlen:
            time.sleep(max(0.0, killed[0] + self._window_s - time.monotonic()))
        killed.append(time.monotonic())


def kills(theatre: Theatre, count: int, rng: random.Random) -> Iterator[Fault]:
    """Random kill -9, one after the other, while the arena may still be busy with the one before."""
    parts, pace = theatre.parts, Pace()
    for number in range(count):
        # Every part in turn, the order drawn anew each round: no part goes short.
        if number % len(parts) == 0:
            order = rng.sample(parts, len(parts))
        yield _kill(theatre, order[number % len(parts)], rng.uniform(0.5, 6.0), pace)


def freezes(theatre: Theatre, seconds: float) -> Iterator[Fault]:
    for part in theatre.parts:
        yield Fault(f"freeze {part}", lambda part=part: _freeze(theatre, part, seconds))


def cuts(theatre: Theatre, seconds: float) -> Iterator[Fault]:
    """Every server, and the visitors, behind their lines: cut off, and connected but silent. Then every part alone."""
    for name in theatre.lines:
        for state in (LineState.CUT, LineState.STUCK):
            yield Fault(f"{state.value} {name}", lambda name=name, state=state: _line(theatre, name, state, seconds))
    for part in ("worker", "web", "beat") if theatre.own else ():
        yield Fault(f"cut {part}", lambda part=part: _cut_off(theatre, part, seconds))


def full_disk(theatre: Theatre, seconds: float) -> Iterator[Fault]:
    if theatre.disk_is_ours:
        yield Fault("full disk", lambda: _fill(theatre, seconds))


def jumps(theatre: Theatre, seconds: float) -> Iterator[Fault]:
    """The clock of the arena's processes, forwards and back."""
    before = 0
    for ahead in JUMPS_S:
        kind = f"clock {'forwards' if ahead > before else 'back'}"
        before = ahead
        yield Fault(kind, lambda ahead=ahead: _jump(theatre, ahead, seconds))


def _kill(theatre: Theatre, part: str, pause: float, pace: Pace) -> Fault:
    def cause() -> bool:
        if part not in theatre.own:
            pace.keep(part)
        members = _awaited(theatre, part)
        # Of the arena's own parts the first process only: what becomes of its children is the arena's business.
        for process in members if part in theatre.own else members[:1]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(pause)
        return bool(members)

    return Fault(f"kill {part}", cause, settles=False)


def _awaited(theatre: Theatre, part: str) -> list[psutil.Process]:
    """The part's processes, as soon as it is there: it may be starting again after an earlier fault."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not (members := theatre.members(part)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return members


def _freeze(theatre: Theatre, part: str, seconds: float) -> bool:
    members = _awaited(theatre, part)
    if members:
        frozen(members, seconds)
    return bool(members)


def _line(theatre: Theatre, name: str, state: LineState, seconds: float) -> bool:
    line = theatre.lines[name]
    line.set(state)
    time.sleep(seconds)
    line.set(LineState.OPEN)
    return True


def _cut_off(theatre: Theatre, part: str, seconds: float) -> bool:
    with theatre.cut_off(part):
        time.sleep(seconds)
    return True


def _fill(theatre: Theatre, seconds: float) -> bool:
    with theatre.full_disk():
        time.sleep(seconds)
    return True


def _jump(theatre: Theatre, ahead_s: int, seconds: float) -> bool:
    if theatre.clock is None:
        return False
    theatre.clock.set(ahead_s)
    time.sleep(seconds)
    return True
