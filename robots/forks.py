"""Forks: turns after the vote, from any moment of a recording or with another seed. They count for nothing."""

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
from arena.queue.entry import Standing
from arena.rules import turn_status
from arena.store import get_store
from arena.visitors.networks import NO_DIGESTS, CallerDigests


@dataclass(frozen=True)
class Fork:
    """What to play. With `turn_id` it starts at that record of the turn, else in the first state of the seed.

    Defaults: the turn's instruction and, with `turn_id`, the turn's seed, else a random one.
    """

    instruction: str | None = None
    turn_id: str | None = None
    record: int = 0
    seed: int | None = None


def add_fork(battle: Battle, fork: Fork, caller: CallerDigests = NO_DIGESTS) -> Turn:
    """Add a fork (`Turn.is_fork`) to a voted battle and put both sides on the queue.

    `caller`: see `throttles.caller_of`. Raises NotVoted, TurnRunning, NoSuchMoment, NotHosted, StoreUnavailable,
    QueueUnavailable, QueueFull and TooManyTurns. No row is left behind then.
    """
    hosts = hosting.hosts()
    check_hosted(battle, hosts)
    get_store().ping()
    standing = Standing.of(battle.session, caller)
    turn: Turn | None = None
    try:
        with transaction.atomic():
            touch_session(battle.session_id)
            turn = _add(lock_numbered(battle), fork, standing, hosts)
    except QueueUnavailable:
        if turn is None or withdraw([turn], battle):
            raise
    return turn


def _add(battle: Battle, fork: Fork, standing: Standing, hosts: hosting.Hosts) -> Turn:
    if battle.status != BattleStatus.VOTED:
        raise NotVoted
    turns = battle.turns_with_sides()
    if not all(release.told(turn) for turn in turns):
        raise TurnRunning
    origin = _origin(turns, fork) if fork.turn_id else None
    seed = fork.seed if fork.seed is not None else origin.seed if origin else secrets.randbelow(SEEDS)
    choose_profile(battle, hosts)
    return add_turn(
        battle,
        turns,
        standing.caller,
        held=join_queue(standing),
        instruction=fork.instruction or (origin or turns[-1]).instruction,
        is_fork=True,
        forked_from=origin,
        fork_record=fork.record if origin else None,
        fork_seed=seed,
    )


def _origin(turns: list[Turn], fork: Fork) -> Turn:
    turn = next((turn for turn in turns if turn.turn_id == fork.turn_id), None)
    if turn is None or turn_status(turn) != "completed":
        raise NoSuchMoment("The moment is in no turn of this battle that both sides completed.")
    longest = max(rollout.length for rollout in turn.attempts.all())
    if not 0 <= fork.record <= longest:
        raise NoSuchMoment(f"That turn has the records 0 to {longest}.", first=0, last=longest)
    return turn
