"""Giving both sides an instruction."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.db import transaction
from structlog.contextvars import bind_contextvars

from arena import kinds, starts
from arena.actions.admission import Admission, join_queue, send_due
from arena.actions.announce import lock_battle, lock_numbered, skip_numbers, tell, touch_session
from arena.actions.attempts import WAITING, send_and_tell
from arena.errors import (
    BattleClosed,
    InvalidStarts,
    NotHosted,
    OtherInstruction,
    OtherStarts,
    QueueUnavailable,
    StartsPlayed,
    TurnRunning,
)
from arena.kinds import CalibrationBattle
from arena.live import release
from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Side, StartKind, Turn
from arena.queue import dispatch, hosting
from arena.queue.hosting import Hosts
from arena.rules import allowed_actions, completed_turns
from arena.selectors import turn_json
from arena.store import get_store
from arena.visitors.networks import NO_DIGESTS, CallerDigests

DRAWN = ("purpose", "left_model_id", "right_model_id", "repeats_id", "seed", "starts", "secret", "render_profile")
"""What a first instruction may change of its battle."""


@dataclass(frozen=True)
class Task:
    """What to tell both sides. `starts`: from how many first states the battle is shown."""

    instruction: str
    start: StartKind = StartKind.CONTINUE
    starts: int = starts.ONE


def submit_instruction(battle: Battle, task: Task, caller: CallerDigests = NO_DIGESTS) -> list[Turn]:
    """Add a turn with an attempt per side and put both on the queue; of several starts, a turn for each that is
    missing, of which the first goes to the queue and the others wait for one another (`arena.queue.admission`).
    `caller`: where it comes from (`throttles.caller_of`).

    Raises BattleClosed, TurnRunning, InvalidStarts, OtherStarts, StartsPlayed, OtherInstruction, and, with nothing left
    behind, NotHosted, StoreUnavailable, QueueUnavailable, QueueFull and TooManyTurns.
    """
    get_store().ping()
    hosts = hosting.hosts()
    check_hosted(battle, hosts)
    turns: list[Turn] = []
    try:
        with transaction.atomic():
            touch_session(battle.session_id)
            calibration = _calibration(battle, task, hosts)
            locked = lock_numbered(battle, calibration.columns() if calibration else None)
            turns = _add_turns(locked, task, caller, hosts)
    except QueueUnavailable:
        if not turns or withdraw(turns, battle):
            raise
    return turns


def _calibration(battle: Battle, task: Task, hosts: Hosts) -> CalibrationBattle | None:
    """Only battles of one start calibrate a voter."""
    if battle.event_seq or task.starts > starts.ONE:
        return None
    return kinds.of(battle.session).calibration(battle, task.instruction, hosts)


def check_hosted(battle: Battle, hosts: Hosts) -> None:
    """Raises NotHosted where no live workers can play both sides, rendered alike."""
    if kinds.of(battle.session).played_here:
        return
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


def _add_turns(battle: Battle, task: Task, caller: CallerDigests, hosts: Hosts) -> list[Turn]:
    if battle.status != BattleStatus.ONGOING:
        raise BattleClosed
    turns = [] if battle.event_seq == 1 else battle.turns_with_sides()  # an earlier turn would have had a number
    if not all(release.told(turn) for turn in turns):
        raise TurnRunning
    wanted = _wanted_starts(battle, task, turns)
    choose_profile(battle, hosts)
    place = join_queue(battle.session, caller, len(wanted))
    added: list[Turn] = []
    for number, (start, seed) in enumerate(wanted):
        if number:
            skip_numbers(battle)  # each is told by an event of its own, the first by that of `lock_numbered`
            place = replace(place, held=True)
        turn = Turn.objects.create(
            session_id=battle.session_id,
            battle=battle,
            battle_seq_in_session=battle.seq_in_session,
            seq=len(turns) + 1 + number,
            instruction=task.instruction,
            start=start,
            start_seed=seed,
            caller=place.caller.address,
            network=place.caller.network,
        )
        open_turn(battle, turn, [*turns, *added], place)
        added.append(turn)
    return added


def _wanted_starts(battle: Battle, task: Task, turns: list[Turn]) -> list[tuple[StartKind, int | None]]:
    """How each turn to add starts, and from which of several starts. A battle's first turns say how many it has."""
    if task.starts > starts.ONE and not kinds.of(battle.session).several_starts:
        raise InvalidStarts(f"Battles of {battle.session.kind} are shown from one start.", known=[starts.ONE])
    if not turns and battle.starts != task.starts:
        battle.starts = task.starts
        battle.save(update_fields=["starts"])
    if battle.starts != task.starts:
        raise OtherStarts(battle.starts)
    if battle.starts == starts.ONE:
        return [(task.start, None)]
    completed = completed_turns(turns)
    missing = starts.missing(battle, completed)
    if not missing:
        raise StartsPlayed
    if completed and completed[0].instruction != task.instruction:
        raise OtherInstruction(completed[0].instruction)
    return [(StartKind.RESET, seed) for seed in missing]


def open_turn(battle: Battle, turn: Turn, earlier: list[Turn], place: Admission) -> None:
    """Give a new turn its attempts, put them on the queue and tell of it. The battle comes from `lock_numbered`.

    Where earlier turns of the visitor go first it is held, unless they are done by the time this one is committed.
    """
    bind_contextvars(battle_id=battle.battle_id, turn_id=turn.turn_id)
    sides = {Side.LEFT: battle.left_model_id, Side.RIGHT: battle.right_model_id}
    state: dict[str, Any] = {"status": AttemptStatus.QUEUED, "sent_at": turn.created_at}
    if place.held:
        state = {"status": AttemptStatus.HELD}
    attempts = Attempt.objects.bulk_create(
        Attempt(turn=turn, side=side, model_id=model_id, **state) for side, model_id in sides.items()
    )
    turn.know_attempts(attempts)
    told = {"turn": turn_json(turn, show_outcome=False), "battle": allowed_actions(battle, [*earlier, turn])}
    send = send_due if place.held else partial(dispatch.send, attempts)
    send_and_tell(turn, send, partial(tell, battle, "turn.opened", **told))


def withdraw(turns: list[Turn], before: Battle) -> bool:
    """Take back turns that could not be queued. False when a worker has a side already: a sweep sends the others.

    `before`: the battle as it was before the turn. It gets the policies and the start back that it had: one that has
    become a control may be for other words.
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
