"""Forks: turns after the vote, from any moment of a recording or with another seed. They count for nothing."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction

from arena import kinds
from arena.actions.admission import join_queue
from arena.actions.announce import lock_numbered, touch_session
from arena.actions.sessions import SEEDS
from arena.actions.turns import add_turn, check_hosted, choose_profile, pair_of, withdraw
from arena.errors import NoSuchMoment, NotVoted, QueueUnavailable, TurnRunning, UnknownName
from arena.live import release
from arena.models import Battle, BattleStatus, Side, Turn
from arena.queue import hosting
from arena.queue.entry import Standing
from arena.rules import turn_status
from arena.store import get_store
from arena.visitors.networks import NO_DIGESTS, CallerDigests
from robots import first_states
from simulation import catalogue


@dataclass(frozen=True)
class Fork:
    """What to play. With `turn_id` it starts at that record of the turn, else in the first state of the seed.

    Defaults: the turn's instruction, with `turn_id` the turn's seed, else a random one, and the battle's own models.
    `moved`: object -> x, y [m, robot's base frame] and, if given, its turn about the vertical [rad]; both sides alike.
    """

    instruction: str | None = None
    turn_id: str | None = None
    record: int = 0
    seed: int | None = None
    left_model_id: str | None = None
    right_model_id: str | None = None
    moved: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def sides(self, battle: Battle) -> dict[Side, str]:
        """Who plays."""
        own = pair_of(battle)
        return {Side.LEFT: self.left_model_id or own[Side.LEFT], Side.RIGHT: self.right_model_id or own[Side.RIGHT]}


def add_fork(battle: Battle, fork: Fork, caller: CallerDigests = NO_DIGESTS) -> Turn:
    """Add a fork (`Turn.is_fork`) to a voted battle and put both sides on the queue.

    `caller`: see `throttles.caller_of`. Raises NotVoted, TurnRunning, NoSuchMoment, UnknownName, NotHosted,
    StoreUnavailable, QueueUnavailable, QueueFull and TooManyTurns. No row is left behind then.
    """
    hosts = hosting.hosts()
    _check_policies(battle, fork)
    check_hosted(battle, hosts, fork.sides(battle))
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
    _check_things(battle, fork, seed)
    choose_profile(battle, hosts, fork.sides(battle))
    return add_turn(
        battle,
        turns,
        standing.caller,
        held=join_queue(standing),
        models=fork.sides(battle),
        instruction=fork.instruction or (origin or turns[-1]).instruction,
        is_fork=True,
        forked_from=origin,
        fork_record=fork.record if origin else None,
        fork_seed=seed,
        fork_changes={"moved": {name: list(place) for name, place in fork.moved.items()}} if fork.moved else None,
    )


def movable(battle: Battle) -> list[str]:
    """The things of its first start that a fork may move."""
    return _movable(battle, battle.seed)


def _movable(battle: Battle, seed: int) -> list[str]:
    """Those of the start of this seed; without those that the battle's seed left out, once a worker has told."""
    scene = catalogue.scene(battle.session.scene)
    out = (first_states.left_out(battle) or ()) if scene.draws and seed == battle.seed else ()
    return [name for name, thing in scene.things.items() if thing.kind == "object" and name not in out]


def _check_things(battle: Battle, fork: Fork, seed: int) -> None:
    """Raises UnknownName for a thing that is not there, or cannot be moved."""
    if fork.moved and not set(fork.moved) <= set(known := _movable(battle, seed)):
        raise UnknownName("thing", known)


def able_to_play(battle: Battle) -> list[tuple[str, str]]:
    """(id, name) of the policies that may be drawn for its place, by name. One query."""
    place = kinds.place_of(battle.session)
    return list(kinds.of(battle.session).eligible(place).order_by("name").values_list("pk", "name"))


def _check_policies(battle: Battle, fork: Fork) -> None:
    """Raises UnknownName for a policy that cannot be drawn here."""
    wanted = {fork.left_model_id, fork.right_model_id} - {None, *pair_of(battle).values()}
    if wanted:
        able = {model_id for model_id, _ in able_to_play(battle)}
        if not wanted <= able:
            raise UnknownName("model", able)


def _origin(turns: list[Turn], fork: Fork) -> Turn:
    turn = next((turn for turn in turns if turn.turn_id == fork.turn_id), None)
    if turn is None or turn_status(turn) != "completed":
        raise NoSuchMoment("The moment is in no turn of this battle that both sides completed.")
    longest = max(rollout.length for rollout in turn.attempts.all())
    if not 0 <= fork.record <= longest:
        raise NoSuchMoment(f"That turn has the records 0 to {longest}.", first=0, last=longest)
    return turn
