"""The playout buffer of a socket: the chunks and ends of turns that it has received and may not send yet.

Nothing here waits or sends. Times are seconds of a monotonic clock, which a change of the system time does not move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arena.kinds import Kind
from arena.live import events
from arena.live.chunk_cache import Passed

Json = dict[str, Any]
SIDES = ("left", "right")
SNAPSHOT: Json = {"type": "snapshot"}
"""Among the messages that are due: send a new snapshot."""
CATCHING_UP = 0.5
"""After a stall, chunks follow each other by at least this fraction of a chunk's time."""
FURTHEST = 2**31


@dataclass
class SideChunks:
    """The chunks of one side by number, of its newest try. Number 0 is the start. `first`, `last`: the outermost
    numbers."""

    kind: Kind
    tries: int = 0
    chunks: dict[int, bytes] = field(default_factory=dict)
    end: int | None = None
    first: int = FURTHEST
    last: int = -1

    def add(self, tries: int, first: int, chunks: Sequence[bytes]) -> None:
        if self._accepts(tries) and chunks:
            self.chunks.update(enumerate(chunks, first))
            self.first, self.last = min(self.first, first), max(self.last, first + len(chunks) - 1)

    def finish(self, tries: int, end: int) -> None:
        """No more chunks come. The last one is shown for those up to `end`."""
        if self._accepts(tries):
            self.end = end

    def _accepts(self, tries: int) -> bool:
        """Whether this is the newest try. A newer try replaces what is known of earlier ones."""
        if tries > self.tries:
            self.tries, self.chunks, self.end = tries, {}, None
            self.first, self.last = FURTHEST, -1
        return tries == self.tries

    def has(self, number: int) -> bool:
        """Whether this side can be shown at the number. The chunk before a lost one is shown in its place."""
        if not self.chunks or number < self.first:
            return False
        return self.end is not None or number <= self.last

    def chunk(self, number: int) -> bytes:
        """The chunk. A lost one is made from the last one before it, or else from the first one after it."""
        if number in self.chunks:
            return self.chunks[number]
        before = max((each for each in self.chunks if each < number), default=None)
        known = self.first if before is None else before
        return self.kind.stand_in(self.chunks[known], known, number)


class LiveTurn:
    """The chunks of both sides of a turn. Each is taken once, when it is due and both sides have it."""

    def __init__(self, kind: Kind, turn_id: str) -> None:
        self.kind, self.turn_id = kind, turn_id
        self.sides = {side: SideChunks(kind) for side in SIDES}
        self.began: float | None = None
        self._next: int | None = None
        self._not_before = 0.0

    def next_at(self) -> float | None:
        """When the next chunk may be shown. None while a side lacks it or the clock has not started."""
        number = self._upcoming()
        if number is None or self.began is None or not self._both_have(number):
            return None
        return max(self._due(number), self._not_before)

    def take(self, now: float) -> tuple[Json | None, float]:
        """The frames that are due, or None, and by how many seconds they are late.

        A new socket, which has sent none of the turn, gets all up to the present one at once.
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
        """The frames that were not taken yet, for the end of the turn's clock."""
        first, last = self._upcoming(), self._last_known()
        if first is None or last < first:
            return None
        return self._frames(first, last)

    def _due(self, number: int) -> float:
        return (self.began or 0.0) + number * self.kind.chunk_s

    def _upcoming(self) -> int | None:
        """The number of the next chunk to show. The first is the first one that both sides have."""
        if self._next is not None:
            return self._next
        sides = self.sides.values()
        return max(side.first for side in sides) if all(side.chunks for side in sides) else None

    def _common_end(self) -> int | None:
        """The longer side's end. None while a side has not ended."""
        ends = [side.end for side in self.sides.values() if side.end is not None]
        return max(ends) if len(ends) == len(SIDES) else None

    def _both_have(self, number: int) -> bool:
        end = self._common_end()
        return (end is None or number <= end) and all(side.has(number) for side in self.sides.values())

    def _last_known(self) -> int:
        """The common end, or while it is unknown the last chunk that both sides have."""
        end = self._common_end()
        if end is not None:
            return end
        return min(side.last for side in self.sides.values() if side.end is None)

    def _frames(self, first: int, last: int) -> Json:
        self._next = last + 1
        left, right = ([self.sides[side].chunk(number) for number in range(first, last + 1)] for side in SIDES)
        return events.frames(self.turn_id, self.kind.frames(first, left, right))


class PlayoutBuffer:
    """What one socket has received and not sent yet. One turn of a battle is played or shown at a time, and its other
    starts wait for it (`arena.queue.admission`)."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._turns: dict[str, LiveTurn] = {}
        self._open: str | None = None
        self._end_at: float | None = None
        self._end_events: list[Json] = []  # none of them if the socket opened after they were published
        self.late: list[float] = []

    def open(self, turn_id: str, anew: bool = False) -> bool:
        """Take this turn as the one under way. Returns whether it was unknown.

        `anew`: it begins, for the first time or again. Its first chunks may be here, but none has been shown.
        """
        known, self._open = self._turns.get(turn_id), turn_id
        kept = known if known and not (anew and known.began is not None) else LiveTurn(self._kind, turn_id)
        self._turns = {turn_id: kept}
        return known is None

    def forget(self) -> None:
        """Drop everything: no turn is under way."""
        self._turns, self._open, self._end_at, self._end_events = {}, None, None, []

    def turn(self, turn_id: str) -> LiveTurn:
        """The turn, whose first chunks may come before its first event."""
        return self._turns.setdefault(turn_id, LiveTurn(self._kind, turn_id))

    @property
    def turn_ids(self) -> list[str]:
        return list(self._turns)

    def take(self, passed: Passed) -> None:
        """Keep the chunks of a side, or that it has no more."""
        side = self.turn(passed.turn_id).sides[passed.side]
        if passed.chunks is None:
            side.finish(passed.tries, passed.first)
        else:
            side.add(passed.tries, passed.first, passed.chunks)

    def close(self, turn_id: str) -> None:
        self._turns.pop(turn_id, None)
        if self._open == turn_id:
            self._open = None

    def is_behind_another(self, turn_id: str) -> bool:
        """Whether another turn is under way, for which this one waits."""
        return self._open not in (None, turn_id)

    @property
    def has_end(self) -> bool:
        return self._end_at is not None

    def add_end(self, at: float, event: Json | None = None) -> None:
        """Keep an event of a turn's end. Without any, a snapshot is due at that time."""
        self._end_at = at if self._end_at is None else self._end_at
        if event is not None:
            self._end_events.append(event)

    def drop_end(self, seq: int) -> None:
        """Drop the events with this number and later ones, which others replace."""
        self._end_events = [event for event in self._end_events if event["seq"] < seq]
        if not self._end_events:
            self._end_at = None

    def next_at(self) -> float | None:
        """When the next message is due, as far as is known now."""
        moments = [self._end_at, *(turn.next_at() for turn in self._turns.values())]
        return min((moment for moment in moments if moment is not None), default=None)

    def due(self, now: float) -> list[Json]:
        """The messages that may be sent now, in their order."""
        if self._end_at is not None and self._end_at <= now:
            return self._take_end()
        taken = [turn.take(now) for turn in self._turns.values()]
        self.late += [late for frames, late in taken if frames is not None]
        return [frames for frames, _ in taken if frames is not None]

    def _take_end(self) -> list[Json]:
        rest = [turn.rest() for turn in self._turns.values() if turn.began is not None]
        messages = [*(frames for frames in rest if frames is not None), *(self._end_events or [SNAPSHOT])]
        self._turns, self._end_at, self._end_events = {}, None, []
        return messages
