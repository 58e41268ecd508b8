"""Giving both sides an instruction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from django.db import transaction
from structlog.contextvars import bind_contextvars

from arena import kinds, starts
from arena.actions.admission import join_queue, send_due
from arena.actions.announce import announce_numbered, lock_battle, lock_numbered, skip_numbers, touch_session
from arena.actions.attempts import WAITING, send_and_announce
from arena.errors import (
    BattleClosed,
    InvalidStarts,
    NotHosted,
    OtherInstruction,
    OtherStarts,
    QueueUnavailable,
    StartsPlayed,
    TurnRunning,
    TurnsPlayed,
)
from arena.live import release
from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Side, StartKind, Turn
from arena.queue import dispatch, hosting
from arena.queue.entry import Standing
from arena.queue.hosting import Hosts
from arena.rules import allowed_actions, completed_turns, is_full
from arena.selectors import turn_json
from arena.store import get_store
from arena.visitors.networks import NO_DIGESTS, CallerDigests

DRAWN = ("purpose", "left_model_id", "right_model_id", "repeats_id", "seed", "starts", "secret", "render_profile")
"""The columns of a battle that its first instruction may change."""


@dataclass(frozen=True)
class TurnRequest:
    """An instruction to both sides. `starts`: from how many first states the battle is played."""

    instruction: str
    start: StartKind = StartKind.CONTINUE
    starts: int = starts.ONE


def submit_instruction(battle: Battle, request: TurnRequest, caller: CallerDigests = NO_DIGESTS) -> list[Turn]:
    """Add a turn with an attempt per side and put both on the queue. In a battle of several starts, add a turn for each
    missing start: the first goes to the queue, and each other waits for the one before (`arena.queue.admission`).
    `caller`: where the request comes from (`throttles.caller_of`).

    Raises BattleClosed, TurnRunning, TurnsPlayed, InvalidStarts, OtherStarts, StartsPlayed, OtherInstruction, and,
    leaving nothing behind, NotHosted, StoreUnavailable, QueueUnavailable, QueueFull and TooManyTurns.
    """
    get_store().ping()
    hosts = hosting.hosts()
    check_hosted(battle, hosts)
    standing = Standing.of(battle.session, caller)
    turns: list[Turn] = []
    try:
        with transaction.atomic():
            touch_session(battle.session_id)
            calibration = None
            if not battle.event_seq and request.starts == starts.ONE:
                calibration = kinds.of(battle.session).calibration(battle, request.instruction, hosts)
            locked = lock_numbered(battle, asdict(calibration) if calibration else None)
            turns = _add_turns(locked, request, standing, hosts)
    except QueueUnavailable:
        if not turns or withdraw(turns, battle):
            raise
    return turns


def pair_of(battle: Battle) -> dict[Side, str]:
    return {Side.LEFT: battle.left_model_id, Side.RIGHT: battle.right_model_id}


def check_hosted(battle: Battle, hosts: Hosts, sides: Mapping[Side, str] | None = None) -> None:
    """Raises NotHosted unless live workers can play both sides, rendered alike. `sides`: in place of the battle's."""
    if kinds.of(battle.session).played_here:
        return
    pair = list((sides or pair_of(battle)).values())
    if hosts.unhosted(pair) or hosts.profile_for(pair, battle.render_profile) is None:
        raise NotHosted


def choose_profile(battle: Battle, hosts: Hosts, sides: Mapping[Side, str] | None = None) -> None:
    """Choose what renders the next turn from what the live workers have for both sides.

    The former renderer may be gone, as after an update of its library. No turn of the battle runs, and the caller holds
    its lock.
    """
    chosen = hosts.profile_for(list((sides or pair_of(battle)).values()), battle.render_profile)
    if chosen is not None and chosen != battle.render_profile:
        battle.render_profile = chosen
        battle.save(update_fields=["render_profile"])


def _add_turns(battle: Battle, request: TurnRequest, standing: Standing, hosts: Hosts) -> list[Turn]:
    if battle.status != BattleStatus.ONGOING:
        raise BattleClosed
    turns = [] if battle.event_seq == 1 else battle.turns_with_sides()  # an earlier turn would have had a number
    if not all(release.told(turn) for turn in turns):
        raise TurnRunning
    if is_full(battle, turns):
        raise TurnsPlayed
    wanted = _wanted_starts(battle, request, turns)
    choose_profile(battle, hosts)
    held = join_queue(standing, len(wanted))
    for number, (start, seed) in enumerate(wanted):
        if number:
            skip_numbers(battle)  # each turn has an event of its own; `lock_numbered` raised the first one's number
        columns: dict[str, Any] = {"instruction": request.instruction, "start": start, "start_seed": seed}
        turns.append(add_turn(battle, turns, standing.caller, held or number > 0, **columns))
    return turns[-len(wanted) :]


def _wanted_starts(battle: Battle, request: TurnRequest, turns: list[Turn]) -> list[tuple[StartKind, int | None]]:
    """The start and the seed of each turn to add. The battle's first request sets its number of starts."""
    if request.starts > starts.ONE and not kinds.of(battle.session).several_starts:
        raise InvalidStarts(f"Battles of {battle.session.kind} are shown from one start.", known=[starts.ONE])
    if not turns and battle.starts != request.starts:
        battle.starts = request.starts
        battle.save(update_fields=["starts"])
    if battle.starts != request.starts:
        raise OtherStarts(battle.starts)
    if battle.starts == starts.ONE:
        return [(request.start, None)]
    completed = completed_turns(turns)
    missing = starts.missing(battle, completed)
    if not missing:
        raise StartsPlayed
    if completed and completed[0].instruction != request.instruction:
        raise OtherInstruction(completed[0].instruction)
    return [(StartKind.RESET, seed) for seed in missing]


def add_turn(
    battle: Battle,
    earlier: list[Turn],
    caller: CallerDigests,
    held: bool,
    models: Mapping[Side, str] | None = None,
    **columns: Any,
) -> Turn:
    """Add a turn with an attempt per side, announce it, and put it on the queue after the commit. The battle comes
    from `lock_numbered`, `held` from `join_queue`; `earlier`: the battle's other turns; `models`: who plays in place
    of the battle's contestants.

    A held turn is sent later, unless the turns before it are done by the time this one is committed.
    """
    turn = Turn.objects.create(
        session_id=battle.session_id,
        battle=battle,
        battle_seq_in_session=battle.seq_in_session,
        seq=len(earlier) + 1,
        caller=caller.address,
        network=caller.network,
        **columns,
    )
    bind_contextvars(battle_id=battle.battle_id, turn_id=turn.turn_id)
    sides = models or pair_of(battle)
    status, sent_at = (AttemptStatus.HELD, None) if held else (AttemptStatus.QUEUED, turn.created_at)
    attempts = Attempt.objects.bulk_create(
        Attempt(turn=turn, side=side, model_id=model_id, status=status, sent_at=sent_at)
        for side, model_id in sides.items()
    )
    turn.cache_attempts(attempts)
    opened = {"turn": turn_json(turn, show_outcome=False), "battle": allowed_actions(battle, [*earlier, turn])}
    send = send_due if held else partial(dispatch.send, attempts)
    send_and_announce(turn, send, partial(announce_numbered, battle, "turn.opened", **opened))
    return turn


def withdraw(turns: list[Turn], before: Battle) -> bool:
    """Remove turns that could not be queued. False if a worker has claimed a side already; a sweep sends the others.

    `before`: the battle before the turns. Its contestants and seed are restored, because a calibration battle is for
    one instruction only.
    """
    with transaction.atomic():
        battle = lock_battle(before.battle_id)
        attempts = Attempt.objects.filter(turn__in=turns)
        if attempts.exclude(status__in=WAITING).exists():
            skip_numbers(battle)
            return False
        attempts.delete()
        Turn.objects.filter(pk__in=[turn.pk for turn in turns]).delete()
        for column in DRAWN:
            setattr(battle, column, getattr(before, column))
        battle.save(update_fields=DRAWN)
        skip_numbers(battle)
        return True
