"""Giving both sides an instruction."""

from __future__ import annotations

from functools import partial

from django.db import transaction
from structlog.contextvars import bind_contextvars

from arena import dispatch, hosting, release
from arena.actions.announce import lock_battle, lock_numbered, skip_numbers, tell, touch_session
from arena.actions.line import Place, join_line, send_next
from arena.controls import maybe_control
from arena.errors import BattleClosed, NotHosted, QueueUnavailable, TurnRunning
from arena.hosting import Hosts
from arena.models import Battle, BattleStatus, Rollout, RolloutStatus, Side, StartKind, Turn
from arena.selectors import doors, turn_json
from simulation.store import get_store

DRAWN = ("purpose", "left_model_id", "right_model_id", "repeats_id", "seed", "render_profile")
"""What a first instruction may change of its battle."""


def submit_instruction(battle: Battle, instruction: str, start: StartKind, caller: str = "") -> Turn:
    """Add a turn with a rollout per side and put both on the queue. `caller`: who asks (`throttles.caller_of`).

    Raises BattleClosed, TurnRunning, and, with nothing left behind, NotHosted, StoreUnavailable, QueueUnavailable,
    QueueFull and TooManyTurns.
    """
    get_store().ping()
    hosts = hosting.hosts()
    check_hosted(battle, hosts)
    turn: Turn | None = None
    try:
        with transaction.atomic():
            touch_session(battle.session_id)
            control = None if battle.event_seq else maybe_control(battle, instruction, hosts)
            locked = lock_numbered(battle, control.columns() if control else None)
            turn = _add_turn(locked, instruction, start, caller, hosts)
    except QueueUnavailable:
        if turn is None or withdraw(turn, battle):
            raise
    return turn


def check_hosted(battle: Battle, hosts: Hosts) -> None:
    """Raises NotHosted where no live workers can play both sides, rendered alike."""
    pair = [battle.left_model_id, battle.right_model_id]
    if hosts.unhosted(pair) or hosts.profile_for(pair, battle.render_profile) is None:
        raise NotHosted


def choose_profile(battle: Battle, hosts: Hosts) -> None:
    """Of a battle in which nothing runs: let the next turn be rendered by what the live workers have for both sides.

    What rendered before may be gone, as after an update of its library. The caller holds the battle's lock.
    """
    chosen = hosts.profile_for([battle.left_model_id, battle.right_model_id], battle.render_profile)
    if chosen is not None and chosen != battle.render_profile:
        battle.render_profile = chosen
        battle.save(update_fields=["render_profile"])


def _add_turn(battle: Battle, instruction: str, start: StartKind, caller: str, hosts: Hosts) -> Turn:
    if battle.status != BattleStatus.ONGOING:
        raise BattleClosed
    turns = [] if battle.event_seq == 1 else battle.turns_with_sides()  # an earlier turn would have had a number
    if not all(release.told(turn) for turn in turns):
        raise TurnRunning
    choose_profile(battle, hosts)
    place = join_line(battle.session, caller)
    turn = Turn.objects.create(
        session_id=battle.session_id,
        battle=battle,
        battle_seq_in_session=battle.seq_in_session,
        seq=len(turns) + 1,
        instruction=instruction,
        start=start,
        caller=place.caller,
    )
    open_turn(battle, turn, turns, place)
    return turn


def open_turn(battle: Battle, turn: Turn, earlier: list[Turn], place: Place) -> None:
    """Give a new turn its rollouts, put them on the queue and tell of it. The battle comes from `lock_numbered`.

    Where earlier turns of the visitor go first it is held, unless they are done by the time this one is committed.
    """
    bind_contextvars(battle_id=battle.battle_id, turn_id=turn.turn_id)
    sides = {Side.LEFT: battle.left_model_id, Side.RIGHT: battle.right_model_id}
    sent_at = None if place.held else turn.created_at
    rollouts = Rollout.objects.bulk_create(
        Rollout(turn=turn, side=side, model_id=model_id, heartbeat_at=sent_at) for side, model_id in sides.items()
    )
    turn.know_rollouts(rollouts)
    # The queue first: when it is down, nobody is told about a turn that will be withdrawn.
    if place.held:
        transaction.on_commit(partial(send_next, battle.session))
    else:
        transaction.on_commit(partial(dispatch.play, {rollout.episode_id: rollout.model_id for rollout in rollouts}))
    tell(battle, "turn.opened", turn=turn_json(turn, show_outcome=False), battle=doors(battle, [*earlier, turn]))


def withdraw(turn: Turn, before: Battle) -> bool:
    """Take back a turn that could not be queued. False when a worker has a side already: a sweep sends the other.

    `before`: the battle as it was before the turn. It gets the policies and the start back that it had: one that has
    become a control may be for other words.
    """
    with transaction.atomic():
        battle = lock_battle(turn.battle_id)
        rollouts = Rollout.objects.filter(turn=turn)
        if rollouts.exclude(status=RolloutStatus.QUEUED).exists():
            skip_numbers(battle)
            return False
        rollouts.delete()
        turn.delete()
        for column in DRAWN:
            setattr(battle, column, getattr(before, column))
        battle.save(update_fields=DRAWN)
        skip_numbers(battle)
        return True
