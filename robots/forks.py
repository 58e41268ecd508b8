"""Playing on after the vote: from any moment of a recording, or with another seed. It counts for nothing."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from django.db import transaction

from arena.actions.admission import join_queue
from arena.actions.announce import lock_numbered, touch_session
from arena.actions.sessions import SEEDS
from arena.actions.turns import add_turn, check_hosted, choose_profile, withdraw
from arena.errors import NoSuchMoment, NotVoted, QueueUnavailable, TurnRunning
from arena.live import release
from arena.models import Battle, BattleStatus, Turn
from arena.queue import hosting
from arena.rules import turn_status
from arena.store import get_store
from arena.visitors.networks import NOWHERE, Origin


@dataclass(frozen=True)
class Fork:
    """What to play. Without `turn_id` it starts in the seed's first state; without a seed, chance draws one there and
    the turn's own is kept where it goes on from a recording. Without an instruction it is the turn's.
    """

    instruction: str | None = None
    turn_id: str | None = None
    record: int = 0
    seed: int | None = None


def fork(battle: Battle, wish: Fork, caller: Origin = NOWHERE) -> Turn:
    """Add a fork (`Turn.is_fork`) to a voted battle and put both sides on the queue. `caller`: where it comes from
    (`throttles.caller_of`).

    Raises NotVoted, TurnRunning, NoSuchMoment, and, with nothing left behind, NotHosted, StoreUnavailable,
    QueueUnavailable, QueueFull and TooManyTurns.
    """
    hosts = hosting.hosts()
    check_hosted(battle, hosts)
    get_store().ping()
    turn: Turn | None = None
    try:
        with transaction.atomic():
            touch_session(battle.session_id)
            turn = _add(lock_numbered(battle), wish, caller, hosts)
    except QueueUnavailable:
        if turn is None or withdraw([turn], battle):
            raise
    return turn


def _add(battle: Battle, wish: Fork, caller: Origin, hosts: hosting.Hosts) -> Turn:
    if battle.status != BattleStatus.VOTED:
        raise NotVoted
    turns = battle.turns_with_sides()
    if not all(release.told(turn) for turn in turns):
        raise TurnRunning
    origin = _origin(turns, wish) if wish.turn_id else None
    choose_profile(battle, hosts)
    held = join_queue(battle.session, caller)
    return add_turn(
        battle,
        turns,
        caller,
        held,
        instruction=wish.instruction or (origin or turns[-1]).instruction,
        is_fork=True,
        forked_from=origin,
        fork_record=wish.record if origin else None,
        fork_seed=_seed(wish, origin),
    )


def _origin(turns: list[Turn], wish: Fork) -> Turn:
    turn = next((turn for turn in turns if turn.turn_id == wish.turn_id), None)
    if turn is None or turn_status(turn) != "completed":
        raise NoSuchMoment("The moment is in no turn of this battle that both sides completed.")
    longest = max(rollout.length for rollout in turn.attempts.all())
    if not 0 <= wish.record <= longest:
        raise NoSuchMoment(f"That turn has the records 0 to {longest}.", first=0, last=longest)
    return turn


def _seed(wish: Fork, origin: Turn | None) -> int:
    if wish.seed is not None:
        return wish.seed
    return origin.seed if origin else secrets.randbelow(SEEDS)
