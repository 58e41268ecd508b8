"""What the socket of a battle has heard and may not say yet: chunks that were played, ends of turns not shown yet.

Nothing here waits or sends. Moments are seconds of a monotonic clock, so that nobody's setting of the time moves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.kinds import Kind
from arena.live import events

Json = dict[str, Any]
SIDES = ("left", "right")
SNAPSHOT: Json = {"type": "snapshot"}
"""Stands for a fresh snapshot among the messages that are due."""
CATCHING_UP = 0.5
"""After a stall the next chunk comes this part of a chunk's time after the last one, at the earliest."""


@dataclass
class SideChunks:
    """The chunks of one side by number, as its newest try has played them; number 0 is its start."""

    kind: Kind
    tries: int = 0
    chunks: dict[int, bytes] = field(default_factory=dict)
    end: int | None = None

    def hold(self, tries: int, first: int, chunks: Sequence[bytes]) -> None:
        if self._accepts(tries):
            self.chunks.update(enumerate(chunks, first))

    def finish(self, tries: int, end: int) -> None:
        """No more chunks come; the last one stands for those up to `end`."""
        if self._accepts(tries):
            self.end = end

    def _accepts(self, tries: int) -> bool:
        """Whether it is the newest try; the first word of a newer one takes the place of all before."""
        if tries > self.tries:
            self.tries, self.chunks, self.end = tries, {}, None
        return tries == self.tries

    @property
    def first(self) -> int | None:
        return min(self.chunks, default=None)

    def has(self, number: int) -> bool:
        """Whether this side can be shown at the number: a chunk that was lost is stood in for by the one before it."""
        if not self.chunks or number < min(self.chunks):
            return False
        return self.end is not None or number <= max(self.chunks)

    def chunk(self, number: int) -> bytes:
        """A lost one is made of the last one before it, or, where there is none, of the first after it."""
        if number in self.chunks:
            return self.chunks[number]
        before = max((each for each in self.chunks if each < number), default=None)
        known = min(self.chunks) if before is None else before
        return self.kind.stand_in(self.chunks[known], known, number)


class LiveTurn:
    """Both sides of a turn, handed out chunk by chunk: each when it is due and both sides have it, none twice."""

    def __init__(self, kind: Kind, turn_id: str) -> None:
        self.kind, self.turn_id = kind, turn_id
        self.sides = {side: SideChunks(kind) for side in SIDES}
        self.began: float | None = None
        self._next: int | None = None
        self._not_before = 0.0

    def next_at(self) -> float | None:
        """When the next chunk may be shown; None while a side lacks it or the clock does not run."""
        number = self._upcoming()
        if number is None or self.began is None or not self._both_have(number):
            return None
        return max(self._due(number), self._not_before)

    def take(self, now: float) -> tuple[Json | None, float]:
        """The frames of what is due, None when nothing is; and by how many seconds they are late.

        A socket that has just come, and so lacks the chunks before, is shown all up to the present one at once.
        """
        at = self.next_at()
        first = self._upcoming()
        if at is None or first is None or at > now:
            return None, 0.0
        last = first
        if self._next is None:
            while self._both_have(last + 1) and self._due(last + 1) <= now:
                last += 1
        self._not_before = now + CATCHING_UP * self.kind.chunk_s
        return self._frames(first, last), now - self._due(last)

    def rest(self) -> Json | None:
        """The frames of all that was not shown yet, at the end of the clock."""
        first, last = self._upcoming(), self._last_known()
        if first is None or last is None or last < first:
            return None
        return self._frames(first, last)

    def _due(self, number: int) -> float:
        return (self.began or 0.0) + number * self.kind.chunk_s

    def _upcoming(self) -> int | None:
        """The next chunk to show: the first one that both sides have, where none was shown yet."""
        if self._next is not None:
            return self._next
        firsts = [side.first for side in self.sides.values() if side.first is not None]
        return max(firsts) if len(firsts) == len(SIDES) else None

    def _both_have(self, number: int) -> bool:
        ends = [side.end for side in self.sides.values() if side.end is not None]
        if len(ends) == len(SIDES) and number > max(ends):
            return False
        return all(side.has(number) for side in self.sides.values())

    def _last_known(self) -> int | None:
        """The common end; while it is unknown, what both sides have."""
        ends = [side.end for side in self.sides.values() if side.end is not None]
        if len(ends) == len(SIDES):
            return max(ends)
        return min((max(side.chunks, default=-1) for side in self.sides.values() if side.end is None), default=None)

    def _frames(self, first: int, last: int) -> Json:
        self._next = last + 1
        left, right = ([self.sides[side].chunk(number) for number in range(first, last + 1)] for side in SIDES)
        return events.frames(self.turn_id, self.kind.frames(first, left, right))


@dataclass
class HeldEnd:
    """The end of a turn, told `at`: its events, or, where this socket came too late to hear them, none."""

    at: float
    events: list[Json] = field(default_factory=list)


class HeldBack:
    """All that one socket has heard and not said yet. A battle has one turn at a time that is played or shown; other
    starts wait for it (`arena.queue.admission`)."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._turns: dict[str, LiveTurn] = {}
        self._open: str | None = None
        self._end: HeldEnd | None = None
        self.late: list[float] = []

    def open(self, turn_id: str, anew: bool = False) -> bool:
        """This turn is under way, and so no other. Answers whether nothing was heard of it before.

        `anew`: it begins, for the first time or again. Its chunks may have come before, but nothing was shown of it.
        """
        known, self._open = self._turns.get(turn_id), turn_id
        kept = known if known and not (anew and known.began is not None) else LiveTurn(self._kind, turn_id)
        self._turns = {turn_id: kept}
        return known is None

    def forget(self) -> None:
        """No turn is under way, and all that was held is known."""
        self._turns, self._open, self._end = {}, None, None

    def turn(self, turn_id: str) -> LiveTurn:
        """The turn; its first chunks may come before anything is told of it."""
        return self._turns.setdefault(turn_id, LiveTurn(self._kind, turn_id))

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
