"""One side's attempt at a turn: claimed, reported on, settled, tried again.

Only the try that the row names may report or settle it; what one says after it was given up is ignored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from arena import kinds
from arena.actions.admission import send_due_or_leave_to_the_sweep
from arena.actions.announce import announce, announce_all, lock_battle, take_back_end
from arena.errors import NotRetryable, QueueUnavailable
from arena.live import events, release
from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Turn, row_or_none
from arena.queue import dispatch
from arena.rules import allowed_actions, turn_status
from arena.selectors import turn_json
from arena.shapes import FailureReason, SideName, SideOfTurn

log = logging.getLogger(__name__)
WAITING = (AttemptStatus.HELD, AttemptStatus.QUEUED)
TOLD_S = 0.05
"""After the moment at which a turn is told: by then every machine's clock says so."""


@dataclass(frozen=True)
class Ending:
    """How a completed attempt ended: how many chunks it had after its first, the verdict of the kind's judge (null
    where it has none), a word for why it ended, and how long it took on a wall clock [ms].
    """

    length: int
    termination_reason: str
    duration_ms: float
    success: bool | None = None
    progress: float | None = None


class RendersOtherwise(Exception):
    """The turn is rendered with another profile than this worker's, for the sake of the other side."""

    def __init__(self, model_id: str, profile: str) -> None:
        super().__init__(f"{model_id} is to be rendered by {profile}")
        self.model_id, self.profile = model_id, profile


def claim_attempt(episode_id: str, worker: str, profile: str = "") -> Attempt | None:
    """Take a queued attempt for this worker, or None: it is gone, settled, or somebody plays it already.

    `profile`: what renders there. The first of a battle says what renders for both sides; raises RendersOtherwise.
    """
    waiting = Battle.objects.filter(
        turns__attempts__episode_id=episode_id, turns__attempts__status=AttemptStatus.QUEUED
    )
    with transaction.atomic():
        battle = row_or_none(waiting.select_related("session").select_for_update(of=("self",)))
        _check_profile(battle, episode_id, profile)
        if battle is None or not Attempt.objects.claim(episode_id, worker):
            return None
        _keep_profile(battle, profile)
        [turn] = (
            Attempt.objects.filter(turn__attempts__episode_id=episode_id)
            .select_related("model", *kinds.claimed_with())
            .by_turn()
        )
        turn.battle = battle
        attempt = next(each for each in turn.attempts.all() if each.episode_id == episode_id)
        if turn.release_from is None and turn_status(turn) == "running":
            _start_clock(battle, turn)
        return attempt


def _check_profile(battle: Battle | None, episode_id: str, profile: str) -> None:
    if battle is not None and profile and battle.render_profile not in ("", profile):
        raise RendersOtherwise(Attempt.objects.get(episode_id=episode_id).model_id, battle.render_profile)


def _keep_profile(battle: Battle, profile: str) -> None:
    if profile and not battle.render_profile:
        battle.render_profile = profile
        Battle.objects.filter(pk=battle.pk).update(render_profile=profile)


def _start_clock(battle: Battle, turn: Turn) -> None:
    """Both sides have started for the first time."""
    turn.release_from = timezone.now() + release.buffer()
    turn.save(update_fields=["release_from"])
    told = turn_json(turn, show_outcome=False)
    announce(battle, "rollout.started", turn_id=turn.turn_id, release_from=told["release_from"])


def report_progress(attempt: Attempt, length: int) -> bool:
    """Say that this try lives and has had so many chunks; False when it was given up and may stop.

    One statement and no lock: sockets hear of chunks from whoever plays (`pass_chunks`).
    """
    return Attempt.objects.still_running(attempt).update(length=length, heartbeat_at=timezone.now()) == 1


def pass_chunks(attempt: Attempt, first: int, chunks: list[bytes]) -> None:
    """Give the chunks from number `first` on to the sockets that will show them; no row changes."""
    about = (attempt.turn.battle_id, attempt.turn_id, str(attempt.side), attempt.tries)
    events.pass_chunks(*about, first, chunks)


def finish_attempt(attempt: Attempt, ending: Ending, keep_details: Callable[[], object] = lambda: None) -> bool:
    """Settle an attempt whose recording is stored; False when it was given up.

    `keep_details` writes what the kind keeps of it, in the same transaction.
    """
    return _settle(attempt, keep_details, status=AttemptStatus.COMPLETED, error="", **asdict(ending))


def fail_attempt(attempt: Attempt, reason: FailureReason, story: str) -> bool:
    """Settle an attempt as failed. `reason` is told to the visitor; `story` is moderators' and may name the policy."""
    return _settle(attempt, status=AttemptStatus.FAILED, termination_reason=reason, error=story)


def refuse_attempt(attempt: Attempt, reason: FailureReason, story: str) -> bool:
    """Settle an attempt that is still queued as failed; False when somebody has taken it meanwhile."""
    with transaction.atomic():
        battle = lock_battle(attempt.turn.battle_id)
        waiting = Attempt.objects.filter(pk=attempt.pk, status__in=WAITING)
        failed = {"status": AttemptStatus.FAILED, "termination_reason": reason, "error": story}
        return _settled(battle, attempt, waiting.update(finished_at=timezone.now(), **failed))


def give_up_attempt(attempt: Attempt) -> bool:
    """Put a running attempt whose worker is lost back on the queue. False when the attempt had ended after all."""
    with transaction.atomic():
        lock_battle(attempt.turn.battle_id)
        queued = {"status": AttemptStatus.QUEUED, "worker": "", "sent_at": timezone.now(), "heartbeat_at": None}
        if not Attempt.objects.still_running(attempt).update(**queued):
            return False
        transaction.on_commit(partial(_send_or_leave_to_the_sweep, attempt))
        return True


def resend_attempt(attempt: Attempt) -> None:
    """Send a queued attempt's message again: the first may be lost. Whoever claims it first plays it."""
    Attempt.objects.filter(pk=attempt.pk, status=AttemptStatus.QUEUED).update(sent_at=timezone.now())
    _send_or_leave_to_the_sweep(attempt)


def retry_attempt(attempt: Attempt) -> None:
    """Play a failed attempt once more, by a moderator's hand; raises NotRetryable and QueueUnavailable."""
    with transaction.atomic():
        battle = lock_battle(attempt.turn.battle_id)
        turns = battle.turns_with_sides()
        if battle.status != BattleStatus.ONGOING or not _may_be_retried(attempt.turn, turns):
            raise NotRetryable
        taken_back = take_back_end(battle, turns) is not None
        failed = Attempt.objects.filter(pk=attempt.pk, status=AttemptStatus.FAILED)
        if not failed.update(
            status=AttemptStatus.QUEUED,
            worker="",
            sent_at=timezone.now(),
            heartbeat_at=None,
            finished_at=None,
            termination_reason="",
            error="",
        ):
            raise NotRetryable
        begun_anew = {"settled_at": None, "shown_at": None, "told_seq": None, "release_from": None}
        Turn.objects.filter(turn_id=attempt.turn_id).update(**begun_anew)
        turns = battle.turns_with_sides()
        again = next(each for each in turns if each.turn_id == attempt.turn_id)
        sides = [side for side in again.attempts.all() if side.pk == attempt.pk]
        told = {"turn": turn_json(again, show_outcome=False), "battle": allowed_actions(battle, turns)}
        tell = partial(announce, battle, "turn.opened", instead=taken_back, **told)
        send_and_tell(again, partial(dispatch.send, sides), tell)


def send_and_tell(turn: Turn, send: Callable[[], object], tell: Callable[[], object]) -> None:
    """Send a turn once the transaction is committed, and tell of it (`tell` sees to that it is after commit).

    The queue first: when it is down, nobody is told about a turn that will be withdrawn. What is played by this process
    comes after the event: nothing can be down, and it begins at once, so that its own events would come before.
    """
    here = kinds.of(turn).played_here
    if not here:
        transaction.on_commit(send)
    tell()
    if here:
        transaction.on_commit(send)


def _may_be_retried(turn: Turn, turns: list[Turn]) -> bool:
    """Nothing was played after it that went on where it ended, or that took its place, and no other turn is open."""
    later = [each for each in turns if each.seq > turn.seq]
    if turn.start_seed is None:
        return not later
    others_told = all(release.told(each) for each in turns if each.turn_id != turn.turn_id)
    return others_told and all(each.start_seed != turn.start_seed for each in later)


def _settle(attempt: Attempt, keep_details: Callable[[], object] = lambda: None, **columns: Any) -> bool:
    with transaction.atomic():
        battle = lock_battle(attempt.turn.battle_id)
        changed = Attempt.objects.still_running(attempt).update(finished_at=timezone.now(), **columns)
        if changed:
            keep_details()
        return _settled(battle, attempt, changed)


def _settled(battle: Battle, attempt: Attempt, changed: int) -> bool:
    """What follows from a side's end; False when nothing had `changed`. The caller holds the battle's lock."""
    if not changed:
        return False
    turns = battle.turns_with_sides()
    turn = next(each for each in turns if each.turn_id == attempt.turn_id)
    _pass_end(turn, next(side for side in turn.attempts.all() if side.pk == attempt.pk))
    if all(side.settled for side in turn.attempts.all()):
        close_turn(battle, turn, turns)
    return True


def _pass_end(turn: Turn, side: Attempt) -> None:
    """A side has no more chunks. One that failed stays where it is for as long as any turn may take, so that the other
    side's way alone does not tell that this one has failed.
    """
    length = kinds.of(turn).longest if side.status == AttemptStatus.FAILED else side.length
    about = (turn.battle_id, turn.turn_id, str(side.side), side.tries)
    transaction.on_commit(partial(events.pass_end, *about, length))


def close_turn(battle: Battle, turn: Turn, turns: list[Turn], *, instead: bool = False) -> None:
    """Both sides have settled: let visitors hear of it when the turn's clock says so (`arena.live.release`).

    `turns`: the battle's, this one among them. `instead`: of an end that was taken back (`take_back_end`).
    """
    turn.settled_at, turn.caller, turn.network = timezone.now(), "", ""
    turn.shown_at = release.end_of(turn, turn.settled_at)
    turn.save(update_fields=["settled_at", "shown_at", "caller", "network"])
    transaction.on_commit(send_due_or_leave_to_the_sweep)
    if any(each.settled_at is None for each in turns):  # other starts, which wait until this one is told
        wait_s = (turn.shown_at - turn.settled_at).total_seconds()
        transaction.on_commit(partial(dispatch.sweep_in, wait_s + TOLD_S))
    tell_end(battle, turn, turns, instead=instead)


def end_cancelled(battle: Battle, turn: Turn, turns: list[Turn], *, instead: bool = False) -> None:
    """Let both sides of a turn fail as cancelled, whatever they have done. The caller holds the battle's lock."""
    ended = {
        "status": AttemptStatus.FAILED,
        "termination_reason": release.CANCELLED,
        "length": 0,
        "success": None,
        "progress": None,
        "duration_ms": None,
        "finished_at": timezone.now(),
    }
    Attempt.objects.filter(turn=turn).update(**ended)
    for attempt in turn.attempts.all():
        vars(attempt).update(ended)
    close_turn(battle, turn, turns, instead=instead)


def tell_end(battle: Battle, turn: Turn, turns: list[Turn], *, instead: bool = False) -> None:
    """Number the events of a turn's end, left first. They say what holds when the end is told, at `turn.shown_at`;
    until then sockets keep them, and snapshots go by `turn.told_seq`. Of a cancelled turn they are told at once.
    """
    turn.told_seq = battle.event_seq
    turn.save(update_fields=["told_seq"])
    at = None if release.was_cancelled(turn) else turn.shown_at
    told = turn_json(turn, turn.exploration, turn.shown_at)
    finished = {
        "turn_id": turn.turn_id,
        "status": told["status"],
        "battle": allowed_actions(battle, turns, turn.shown_at),
        "turn": told if turn.exploration else None,
    }
    ends = [_end_of(turn.turn_id, "left", told["left"]), _end_of(turn.turn_id, "right", told["right"])]
    announce_all(battle, *ends, ("turn.finished", finished), at=at, instead=instead)


def _end_of(turn_id: str, name: SideName, side: SideOfTurn) -> tuple[str, dict[str, Any]]:
    """The event that tells how a side ended: its type and its fields."""
    about = {"turn_id": turn_id, "side": name, "steps": side["steps"]}
    if side["status"] == "failed":
        return "rollout.failed", {**about, "reason": side["error"]}
    url = f"/api/episodes/{side['episode_id']}"
    return "rollout.finished", {**about, "episode_id": side["episode_id"], "url": url}


def _send_or_leave_to_the_sweep(attempt: Attempt) -> None:
    try:
        dispatch.send([attempt])
    except QueueUnavailable:
        log.warning("The queue is down; a later sweep sends %s again", attempt.episode_id)
