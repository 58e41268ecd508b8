"""Whether a new turn may join the queue: by the queue as read before the lock, and by what has changed since.

Reading the queue takes longer the more turns wait. So that nobody waits for that, the lock's row numbers the changes
that others must know of, and names the turns sent last (`arena.models.AdmissionLock`). Under the lock only those are
looked at. A turn that has settled since still counts, which refuses or holds a turn a moment too long, never too short.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from django.conf import settings

from arena.errors import QueueFull, TooManyTurns
from arena.models import AdmissionLock, Session
from arena.queue.admission import (
    DEFAULT_RETRY_S,
    QueuedTurn,
    QueueSnapshot,
    ahead_of,
    read_queue,
    read_since,
    seconds_a_turn,
    visitor_of,
)
from arena.visitors.networks import CallerDigests


@dataclass
class Standing:
    """What the queue means for the next turn of one caller.

    `of_network`: waiting turns of the caller's network; of all exempt callers if it is exempt. `sent` and those after
    it: turns with the workers; `own` includes turns whose end is not shown yet. `would_overtake`: another turn goes
    first. `ahead`: turns that will be played earlier, `a_turn_s` how long each takes, None if unknown.
    """

    session: Session
    caller: CallerDigests
    visitor: str
    queue: QueueSnapshot
    waiting: int
    of_visitor: int
    of_address: int
    of_network: int
    sent: int
    sent_of_network: int
    own: int
    would_overtake: bool
    ahead: int
    a_turn_s: float | None

    @classmethod
    def of(cls, session: Session, caller: CallerDigests) -> Standing:
        """Reads the queue: one query. Call it before the lock is taken."""
        queue, visitor = read_queue(), visitor_of(session)
        network = caller.network or visitor
        served = queue.sent_networks[network]
        found = cls(
            session=session,
            caller=caller,
            visitor=visitor,
            queue=queue,
            waiting=len(queue.waiting),
            of_visitor=queue.turns_of(visitor),
            of_address=sum(bool(caller.address) and each.caller == caller.address for each in queue.waiting),
            of_network=0,
            sent=queue.sent_networks.total(),
            sent_of_network=served,
            own=queue.busy_visitors[visitor],
            would_overtake=any(served or each.network == network for each in queue.candidates()),
            ahead=ahead_of(queue, visitor, network),
            a_turn_s=seconds_a_turn(queue),
        )
        found.of_network = sum(map(found._shares_room, queue.waiting))
        return found

    @property
    def network(self) -> str:
        return self.caller.network or self.visitor

    def _shares_room(self, turn: QueuedTurn) -> bool:
        return turn.network == self.caller.network if self.caller.network else not turn.caller

    def catch_up(self, revision: int, sent: list[list[int]]) -> bool:
        """Take in what has changed up to `revision`; `sent`: (revision, turn) of the turns sent last, in order. One
        query if there is anything. False if more turns were sent than `sent` names."""
        if revision == self.queue.revision:
            return True
        missed = [turn for at, turn in sent if at > self.queue.revision]
        if len(missed) == AdmissionLock.NAMED:
            return False
        for turn in read_since(self.queue.last):
            self._add(turn)
        known = {each.key: each for each in self.queue.waiting}
        for key in missed:
            if key in known and not known[key].is_sent:
                self._send(known[key])
        return True

    def _add(self, turn: QueuedTurn) -> None:
        self.of_visitor += turn.visitor == self.visitor
        if not turn.is_waiting:
            self.own += turn.visitor == self.visitor
            return
        self.waiting += 1
        self.ahead += 1
        self.of_address += bool(self.caller.address) and turn.caller == self.caller.address
        self.of_network += self._shares_room(turn)
        if turn.is_sent:
            self._send(turn)
        else:
            self.would_overtake |= bool(self.sent_of_network) or turn.network == self.network

    def _send(self, turn: QueuedTurn) -> None:
        self.sent += 1
        self.sent_of_network += turn.network == self.network
        self.own += turn.visitor == self.visitor

    def admit(self, turns: int = 1) -> bool:
        """Whether a new turn goes to the workers at once; False if it has to wait. Further `turns` follow it: there
        must be room for each, as if they came one by one.

        Raises TooManyTurns and QueueFull. The caller holds the lock and has called `catch_up`, so the bounds hold for
        concurrent calls.
        """
        rules, more = settings.QUEUE, turns - 1
        if reached(self.of_visitor + more, rules["per_visitor"]):
            raise TooManyTurns("visitor", rules["per_visitor"], self._retry_after_s())
        if reached(self.of_address + more, rules["per_address"]):
            raise TooManyTurns("address", rules["per_address"], self._retry_after_s())
        self._check_room(more)
        wait = self._wait_s(more + self.ahead)
        if rules["wait_s"] and wait is not None and wait > rules["wait_s"]:
            raise QueueFull(self.waiting, wait, math.ceil(wait - rules["wait_s"]))
        return self._has_room() and not self.would_overtake

    def _has_room(self) -> bool:
        if reached(self.own, settings.QUEUE["at_once"]):
            return False
        return self.sent < self.queue.slots or not self.sent_of_network

    def _check_room(self, more: int) -> None:
        """Raises QueueFull, or TooManyTurns for a network. `more`: how many turns follow the first.

        A network may have as many turns in the queue as places are left, and at least one: however many it sends, there
        is room for the next network. Visitors of exempt networks share the places among themselves.
        """
        places = settings.QUEUE["turns"]
        bound = max(1, places - self.waiting) if places and self.caller.network else places
        if not reached(self.of_network + more, bound):
            return
        if self.caller.network:
            raise TooManyTurns("network", self.of_network, self._retry_after_s())
        raise QueueFull(self.waiting, self._wait_s(self.waiting), self._retry_after_s())

    def _wait_s(self, ahead: int) -> int | None:
        if ahead == 0:
            return 0
        return None if self.a_turn_s is None else round(ahead * self.a_turn_s)

    def _retry_after_s(self) -> int:
        """Seconds until about one turn is done; at least one."""
        return max(1, self._wait_s(1) or DEFAULT_RETRY_S)


def reached(number: int, bound: int) -> bool:
    """A bound of 0 means no bound."""
    return 0 < bound <= number
