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
from tests.faults.testbed import Testbed, frozen
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


def kills(testbed: Testbed, count: int, rng: random.Random) -> Iterator[Fault]:
    """Random kill -9, one after the other, while the arena may still be busy with the one before."""
    parts, pace = testbed.parts, Pace()
    for number in range(count):
        # Every part in turn, the order drawn anew each round: no part goes short.
        if number % len(parts) == 0:
            order = rng.sample(parts, len(parts))
        yield _kill(testbed, order[number % len(parts)], rng.uniform(0.5, 6.0), pace)


def freezes(testbed: Testbed, seconds: float) -> Iterator[Fault]:
    for part in testbed.parts:
        yield Fault(f"freeze {part}", lambda part=part: _freeze(testbed, part, seconds))


def cuts(testbed: Testbed, seconds: float) -> Iterator[Fault]:
    """Every server, and the visitors, behind their lines: cut off, and connected but silent. Then every part alone."""
    for name in testbed.lines:
        for state in (LineState.CUT, LineState.STUCK):
            yield Fault(f"{state.value} {name}", lambda name=name, state=state: _line(testbed, name, state, seconds))
    for part in ("worker", "web", "beat") if testbed.own else ():
        yield Fault(f"cut {part}", lambda part=part: _cut_off(testbed, part, seconds))


def full_disk(testbed: Testbed, seconds: float) -> Iterator[Fault]:
    if testbed.disk_is_ours:
        yield Fault("full disk", lambda: _fill(testbed, seconds))


def jumps(testbed: Testbed, seconds: float) -> Iterator[Fault]:
    """The clock of the arena's processes, forwards and back."""
    before = 0
    for ahead in JUMPS_S:
        kind = f"clock {'forwards' if ahead > before else 'back'}"
        before = ahead
        yield Fault(kind, lambda ahead=ahead: _jump(testbed, ahead, seconds))


def _kill(testbed: Testbed, part: str, pause: float, pace: Pace) -> Fault:
    def cause() -> bool:
        if part not in testbed.own:
            pace.keep(part)
        members = _awaited(testbed, part)
        # Of the arena's own parts the first process only: what becomes of its children is the arena's business.
        for process in members if part in testbed.own else members[:1]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        time.sleep(pause)
        return bool(members)

    return Fault(f"kill {part}", cause, settles=False)


def _awaited(testbed: Testbed, part: str) -> list[psutil.Process]:
    """The part's processes, as soon as it is there: it may be starting again after an earlier fault."""
    deadline = time.monotonic() + STARTS_WITHIN_S
    while not (members := testbed.members(part)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return members


def _freeze(testbed: Testbed, part: str, seconds: float) -> bool:
    members = _awaited(testbed, part)
    if members:
        frozen(members, seconds)
    return bool(members)


def _line(testbed: Testbed, name: str, state: LineState, seconds: float) -> bool:
    line = testbed.lines[name]
    line.set(state)
    time.sleep(seconds)
    line.set(LineState.OPEN)
    return True


def _cut_off(testbed: Testbed, part: str, seconds: float) -> bool:
    with testbed.cut_off(part):
        time.sleep(seconds)
    return True


def _fill(testbed: Testbed, seconds: float) -> bool:
    with testbed.full_disk():
        time.sleep(seconds)
    return True


def _jump(testbed: Testbed, ahead_s: int, seconds: float) -> bool:
    if testbed.clock is None:
        return False
    testbed.clock.set(ahead_s)
    time.sleep(seconds)
    return True
