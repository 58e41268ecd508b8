"""What the socket of a battle has heard and may not say yet: rows that are played, ends of turns that are not shown.

Nothing here waits or sends. Moments are seconds of a monotonic clock, so that nobody's setting of the time moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.live import events
from arena.live.release import step_s
from simulation.view_format import ROWS_PER_STEP

Json = dict[str, Any]
SIDES = ("left", "right")
SNAPSHOT: Json = {"type": "snapshot"}
"""Stands for a fresh snapshot among the messages that are due."""
CATCHING_UP = 0.5
"""After a stall the next step comes this part of a step's time after the last one, at the earliest."""


@dataclass
class SideRows:
    """The packed rows of one side by step, as its newest attempt has played them: one row of step 0, else five."""

    attempt: int = 0
    steps: dict[int, bytes] = field(default_factory=dict)
    end: int | None = None

    def hold(self, attempt: int, from_step: int, steps: Sequence[bytes]) -> None:
        if self._accepts(attempt):
            self.steps.update(enumerate(steps, from_step))

    def finish(self, attempt: int, end: int) -> None:
        """No more rows come; the last one stands for the steps up to `end`."""
        if self._accepts(attempt):
            self.end = end

    def _accepts(self, attempt: int) -> bool:
        """Whether it is the newest attempt; the first word of a newer one takes the place of all before."""
        if attempt > self.attempt:
            self.attempt, self.steps, self.end = attempt, {}, None
        return attempt == self.attempt

    @property
    def first(self) -> int | None:
        return min(self.steps, default=None)

    def has(self, step: int) -> bool:
        """Whether this side can be shown at the step: a row that was lost is stood in for by the one before it."""
        if not self.steps or step < min(self.steps):
            return False
        return self.end is not None or step <= max(self.steps)

    def rows(self, step: int) -> bytes:
        """Its rows of a step. A lost one's are the last row before it, or, where there is none, the first after it."""
        if step in self.steps:
            return self.steps[step]
        before = max((each for each in self.steps if each < step), default=None)
        known = min(self.steps) if before is None else before
        rows = self.steps[known]
        width = len(rows) // _count(known)
        return (rows[:width] if before is None else rows[-width:]) * _count(step)


class LiveTurn:
    """Both sides of a turn, handed out step by step: each when it is due and both sides have it, none twice."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id = turn_id
        self.sides = {side: SideRows() for side in SIDES}
        self.began: float | None = None
        self._next: int | None = None
        self._not_before = 0.0

    def next_at(self) -> float | None:
        """When the next step may be shown; None while a side lacks it or the clock does not run."""
        step = self._upcoming()
        if step is None or self.began is None or not self._both_have(step):
            return None
        return max(self._due(step), self._not_before)

    def take(self, now: float) -> tuple[Json | None, float]:
        """The frames of what is due, None when nothing is; and by how many seconds they are late.

        Who has just come, and so lacks the steps before, is shown up to the present step at once.
        """
        at = self.next_at()
        first = self._upcoming()
        if at is None or first is None or at > now:
            return None, 0.0
        last = first
        if self._next is None:
            while self._both_have(last + 1) and self._due(last + 1) <= now:
                last += 1
        self._not_before = now + CATCHING_UP * step_s()
        return self._frames(first, last), now - self._due(last)

    def rest(self) -> Json | None:
        """The frames of all that was not shown yet, at the end of the clock."""
        first, last = self._upcoming(), self._last_known()
        if first is None or last is None or last < first:
            return None
        return self._frames(first, last)

    def _due(self, step: int) -> float:
        return (self.began or 0.0) + step * step_s()

    def _upcoming(self) -> int | None:
        """The next step to show: the first one that both sides have, where none was shown yet."""
        if self._next is not None:
            return self._next
        firsts = [side.first for side in self.sides.values() if side.first is not None]
        return max(firsts) if len(firsts) == len(SIDES) else None

    def _both_have(self, step: int) -> bool:
        ends = [side.end for side in self.sides.values() if side.end is not None]
        if len(ends) == len(SIDES) and step > max(ends):
            return False
        return all(side.has(step) for side in self.sides.values())

    def _last_known(self) -> int | None:
        """The common end; while it is unknown, what both sides have."""
        ends = [side.end for side in self.sides.values() if side.end is not None]
        if len(ends) == len(SIDES):
            return max(ends)
        return min((max(side.steps, default=-1) for side in self.sides.values() if side.end is None), default=None)

    def _frames(self, first: int, last: int) -> Json:
        self._next = last + 1
        left, right = (b"".join(self.sides[side].rows(step) for step in range(first, last + 1)) for side in SIDES)
        return dict(events.frames(self.turn_id, _first_row(first), left, right))


@dataclass
class HeldEnd:
    """The end of a turn, told `at`: its events, or, where this socket came too late to hear them, none."""

    at: float
    events: list[Json] = field(default_factory=list)


class HeldBack:
    """All that one socket has heard and not said yet. A battle has one turn at a time that is played or shown; other
    starts wait for it (`arena.queue.admission`)."""

    def __init__(self) -> None:
        self._turns: dict[str, LiveTurn] = {}
        self._open: str | None = None
        self._end: HeldEnd | None = None
        self.late: list[float] = []

    def open(self, turn_id: str, anew: bool = False) -> bool:
        """This turn is under way, and so no other. Answers whether nothing was heard of it before.

        `anew`: it begins, for the first time or again. Its rows may have come before, but nothing was shown of it.
        """
        known, self._open = self._turns.get(turn_id), turn_id
        kept = known if known and not (anew and known.began is not None) else LiveTurn(turn_id)
        self._turns = {turn_id: kept}
        return known is None

    def forget(self) -> None:
        """No turn is under way, and all that was held is known."""
        self._turns, self._open, self._end = {}, None, None

    def turn(self, turn_id: str) -> LiveTurn:
        """The turn; its first rows may come before anything is told of it."""
        return self._turns.setdefault(turn_id, LiveTurn(turn_id))

    def close(self, turn_id: str) -> None:
        self._turns.pop(turn_id, None)
        if self._open == turn_id:
            self._open = None

    def is_behind_another(self, turn_id: str) -> bool:
        """Whether this turn waits for the one that is under way."""
        return self._open not in (None, turn_id)

    @property
    def has_end(self) -> bool:
        return self._end is not None

    def hold_end(self, at: float, event: Json | None = None) -> None:
        """Keep an event of a turn's end; without one, what is due at that time is a snapshot."""
        self._end = self._end or HeldEnd(at)
        if event is not None:
            self._end.events.append(event)

    def drop_end(self, seq: int) -> None:
        """Events with this number and later ones never were: others take their place."""
        if self._end is not None:
            self._end.events = [event for event in self._end.events if event["seq"] < seq]
            self._end = self._end if self._end.events else None

    def next_at(self) -> float | None:
        """When `due` has something to say, as far as is known now."""
        moments = [turn.next_at() for turn in self._turns.values()]
        moments.append(self._end.at if self._end else None)
        return min((moment for moment in moments if moment is not None), default=None)

    def due(self, now: float) -> list[Json]:
        """The messages that may be sent now, in their order."""
        if self._end is not None and self._end.at <= now:
            return self._tell_end(self._end)
        told = [turn.take(now) for turn in self._turns.values()]
        self.late += [late for frames, late in told if frames is not None]
        return [frames for frames, _ in told if frames is not None]

    def _tell_end(self, end: HeldEnd) -> list[Json]:
        rest = [turn.rest() for turn in self._turns.values() if turn.began is not None]
        self._end, self._turns = None, {}
        return [*(frames for frames in rest if frames is not None), *(end.events or [SNAPSHOT])]


def _first_row(step: int) -> int:
    return 0 if step == 0 else ROWS_PER_STEP * (step - 1) + 1


def _count(step: int) -> int:
    """How many rows a step has."""
    return 1 if step == 0 else ROWS_PER_STEP
