"""One side's attempt at a turn: claimed, reported on, settled, retried.

Only the try that the row names may report on it or settle it. A try that was given up is ignored.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from typing import Any

from django.db import transaction
from django.utils import timezone

from arena import kinds
from arena.actions.admission import send_due_or_leave_to_the_sweep
from arena.actions.announce import announce, announce_all, lock_battle, take_back_end
from arena.errors import NotRetryable, QueueUnavailable
from arena.live import events, release
from arena.live.chunk_cache import Passed
from arena.models import Attempt, AttemptQuerySet, AttemptStatus, Battle, BattleStatus, Compiled, Turn, turns_of
from arena.queue import dispatch
from arena.rules import allowed_actions, turn_status
from arena.selectors import turn_json
from arena.shapes import FailureReason, SideName, SideOfTurn

log = logging.getLogger(__name__)
WAITING = (AttemptStatus.HELD, AttemptStatus.QUEUED)
CLOCK_SKEW_S = 0.05
"""How long after a turn's end is shown the next start is sent: by then it is shown by every machine's clock."""
_waiting = Compiled(
    lambda episode_id: (
        Battle.objects.select_related("session")
        .select_for_update(of=("self",))
        .filter(turns__attempts__episode_id=episode_id, turns__attempts__status=AttemptStatus.QUEUED)
        .order_by()
    )
)


@cache
def _sides_claimed(kind: str) -> Compiled[Attempt]:
    """Both attempts of the turn of an attempt, with what a worker needs to play them."""
    with_models = Attempt.objects.select_related("model", *kinds.get(kind).claimed_with).with_turns(kind)
    return Compiled(lambda episode_id: with_models.filter(turn__attempts__episode_id=episode_id))


@dataclass(frozen=True)
class Ending:
    """How a completed attempt ended. `length`: its chunks after the first. `duration_ms`: on a wall clock. `success`
    and `progress`: the verdict of the kind's judge, None if it has none."""

    length: int
    termination_reason: str
    duration_ms: float
    success: bool | None = None
    progress: float | None = None


class RendersOtherwise(Exception):
    """The turn is rendered with another profile than this worker's, which the other side uses."""

    def __init__(self, model_id: str, profile: str) -> None:
        super().__init__(f"{model_id} is to be rendered by {profile}")
        self.model_id, self.profile = model_id, profile


def claim_attempt(episode_id: str, worker: str, profile: str = "") -> Attempt | None:
    """Take a queued attempt for this worker. None if it is gone, settled, or already being played.

    The turn's release clock starts once both sides have started. `profile`: what renders on this worker. A battle's
    first attempt sets the profile for both sides; raises RendersOtherwise.
    """
    with transaction.atomic():
        battle = _waiting.first(episode_id)
        if battle is None:
            return None
        if profile and battle.render_profile not in ("", profile):
            raise RendersOtherwise(Attempt.objects.get(episode_id=episode_id).model_id, battle.render_profile)
        if not Attempt.objects.claim(episode_id, worker):
            return None
        if profile and not battle.render_profile:
            battle.render_profile = profile
            battle.save(update_fields=["render_profile"])
        [turn] = turns_of(_sides_claimed(battle.session.kind)(episode_id))
        turn.battle = battle
        if turn.release_from is None and turn_status(turn) == "running":
            turn.release_from = timezone.now() + release.buffer()
            turn.save(update_fields=["release_from"])
            release_from = turn_json(turn, show_outcome=False)["release_from"]
            announce(battle, "rollout.started", turn_id=turn.turn_id, release_from=release_from)
        return next(each for each in turn.attempts.all() if each.episode_id == episode_id)


def report_progress(attempt: Attempt, length: int) -> bool:
    """Record that this try is alive and has played `length` chunks. False if it was given up and may stop.

    One statement and no lock. Sockets get the chunks from `pass_chunks`.
    """
    return Attempt.objects.still_running(attempt).update(length=length, heartbeat_at=timezone.now()) == 1


def wanted(attempts: Collection[Attempt], alive: bool) -> set[Attempt]:
    """Which of these tries were not given up, by one read. `alive`: record by one write that they go on, too."""
    playing = {each.episode_id: each for each in attempts}
    rows = Attempt.objects.running().filter(episode_id__in=playing).values_list("episode_id", "tries")
    found = {playing[episode_id] for episode_id, tries in rows if playing[episode_id].tries == tries}
    if alive and found:
        still = Attempt.objects.running().filter(episode_id__in=[each.episode_id for each in found])
        still.update(heartbeat_at=timezone.now())
    return found


def pass_chunks(attempt: Attempt, first: int, chunks: list[bytes]) -> None:
    """Send the chunks from number `first` on to the sockets that will show them. No row changes."""
    pass_all([passed(attempt, first, chunks)])


def pass_all(chunks: Sequence[Passed]) -> None:
    """The same for many attempts at once: one message."""
    events.pass_chunks(chunks)


def passed(attempt: Attempt, first: int, chunks: list[bytes] | None) -> Passed:
    """Chunks of an attempt, for `pass_all`."""
    return Passed(attempt.turn.battle_id, attempt.turn_id, str(attempt.side), attempt.tries, first, chunks)


def finish_attempt(attempt: Attempt, ending: Ending, keep_details: Callable[[], object] = lambda: None) -> bool:
    """Settle an attempt whose recording is stored. False if it was given up.

    `keep_details` writes what the kind keeps of it, in the same transaction.
    """
    running = Attempt.objects.still_running(attempt)
    return _settle(attempt, running, keep_details, status=AttemptStatus.COMPLETED, error="", **asdict(ending))


def fail_attempt(attempt: Attempt, reason: FailureReason, story: str) -> bool:
    """Settle an attempt as failed. Visitors see `reason`; `story` is for moderators and may name the contestant."""
    return _fail(attempt, Attempt.objects.still_running(attempt), reason, story)


def refuse_attempt(attempt: Attempt, reason: FailureReason, story: str) -> bool:
    """Settle an attempt that waits as failed. False if a worker has taken it in the meantime."""
    return _fail(attempt, Attempt.objects.filter(pk=attempt.pk, status__in=WAITING), reason, story)


def give_up_attempt(attempt: Attempt) -> bool:
    """Put a running attempt whose worker is lost back on the queue. False if the attempt has ended after all."""
    with transaction.atomic():
        lock_battle(attempt.turn.battle_id)
        queued = {"status": AttemptStatus.QUEUED, "worker": "", "sent_at": timezone.now(), "heartbeat_at": None}
        if not Attempt.objects.still_running(attempt).update(**queued):
            return False
        transaction.on_commit(partial(_send_or_leave_to_the_sweep, attempt))
        return True


def resend_attempt(attempt: Attempt) -> None:
    """Send a queued attempt's message again, in case the first was lost. The first worker to claim it plays it."""
    Attempt.objects.filter(pk=attempt.pk, status=AttemptStatus.QUEUED).update(sent_at=timezone.now())
    _send_or_leave_to_the_sweep(attempt)


def retry_attempt(attempt: Attempt) -> None:
    """Play a failed attempt once more, at a moderator's request. Raises NotRetryable and QueueUnavailable."""
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
        turn = Turn.objects.filter(turn_id=attempt.turn_id)
        turn.update(settled_at=None, shown_at=None, told_seq=None, release_from=None)
        turns = battle.turns_with_sides()
        again = next(each for each in turns if each.turn_id == attempt.turn_id)
        sides = [side for side in again.attempts.all() if side.pk == attempt.pk]
        opened = {"turn": turn_json(again, show_outcome=False), "battle": allowed_actions(battle, turns)}
        announce_it = partial(announce, battle, "turn.opened", instead=taken_back, **opened)
        send_and_announce(again, partial(dispatch.send, sides), announce_it)


def send_and_announce(turn: Turn, send: Callable[[], object], announce_it: Callable[[], object]) -> None:
    """Send a turn once the transaction is committed, and announce it (`announce_it` waits for the commit itself).

    What workers play is sent first: if the queue is down, nobody hears of a turn that will be withdrawn. What this
    process plays is announced first, because it begins at once and its own events must come later.
    """
    here = kinds.of(turn).played_here
    if not here:
        transaction.on_commit(send)
    announce_it()
    if here:
        transaction.on_commit(send)


def _may_be_retried(turn: Turn, turns: list[Turn]) -> bool:
    """Whether its visitor still wants it, no later turn continues or replaces it, and no other turn is open."""
    if release.was_cancelled(turn):
        return False
    later = [each for each in turns if each.seq > turn.seq]
    if turn.start_seed is None:
        return not later
    others_shown = all(release.told(each) for each in turns if each.turn_id != turn.turn_id)
    return others_shown and all(each.start_seed != turn.start_seed for each in later)


def _fail(attempt: Attempt, rows: AttemptQuerySet, reason: FailureReason, story: str) -> bool:
    return _settle(attempt, rows, status=AttemptStatus.FAILED, termination_reason=reason, error=story)


def _settle(
    attempt: Attempt, rows: AttemptQuerySet, keep_details: Callable[[], object] = lambda: None, **columns: Any
) -> bool:
    """Settle the attempt if `rows` still holds it, and close its turn if the other side has settled. False if not."""
    with transaction.atomic():
        battle = lock_battle(attempt.turn.battle_id)
        if not rows.update(finished_at=timezone.now(), **columns):
            return False
        keep_details()
        turns = battle.turns_with_sides()
        turn = next(each for each in turns if each.turn_id == attempt.turn_id)
        _pass_end(turn, next(side for side in turn.attempts.all() if side.pk == attempt.pk))
        if all(side.settled for side in turn.attempts.all()):
            close_turn(battle, turn, turns)
        return True


def _pass_end(turn: Turn, side: Attempt) -> None:
    """Tell sockets that a side has no more chunks. They show a failed side standing still for as long as such a turn
    may take: the other side's length must not show which side failed."""
    length = kinds.longest_of(turn) if side.status == AttemptStatus.FAILED else side.length
    ended = Passed(turn.battle_id, turn.turn_id, str(side.side), side.tries, length, None)
    transaction.on_commit(partial(events.pass_chunks, [ended]))


def close_turn(battle: Battle, turn: Turn, turns: list[Turn], *, instead: bool = False) -> None:
    """Settle a turn whose sides have settled. Visitors see it when the turn's clock says so (`arena.live.release`).

    `turns`: all of the battle, with this one. `instead`: in place of an end that was taken back (`take_back_end`).
    """
    turn.settled_at, turn.caller, turn.network = timezone.now(), "", ""
    turn.shown_at = release.end_of(turn, turn.settled_at)
    turn.save(update_fields=["settled_at", "shown_at", "caller", "network"])
    transaction.on_commit(send_due_or_leave_to_the_sweep)
    if any(each.settled_at is None for each in turns):  # other starts, which wait until this end is shown
        wait_s = (turn.shown_at - turn.settled_at).total_seconds()
        transaction.on_commit(partial(dispatch.sweep_in, wait_s + CLOCK_SKEW_S))
    announce_end(battle, turn, turns, instead=instead)


def end_cancelled(battle: Battle, turn: Turn, turns: list[Turn], *, instead: bool = False) -> None:
    """Fail both sides of a turn as cancelled, whatever they have done. The caller holds the battle's lock."""
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


def announce_end(battle: Battle, turn: Turn, turns: list[Turn], *, instead: bool = False) -> None:
    """Number the events of a turn's end, the left side's first. They describe the moment at which the end is shown,
    `turn.shown_at`. Sockets keep them until then, and snapshots go by `turn.told_seq`. The events of a cancelled turn
    are sent at once."""
    turn.told_seq = battle.event_seq
    turn.save(update_fields=["told_seq"])
    at = None if release.was_cancelled(turn) else turn.shown_at
    shown = turn_json(turn, turn.is_fork, turn.shown_at)
    finished = {
        "turn_id": turn.turn_id,
        "status": shown["status"],
        "battle": allowed_actions(battle, turns, turn.shown_at),
        "turn": shown if turn.is_fork else None,
    }
    ends = [_side_ended(turn.turn_id, "left", shown["left"]), _side_ended(turn.turn_id, "right", shown["right"])]
    announce_all(battle, *ends, ("turn.finished", finished), at=at, instead=instead)


def _side_ended(turn_id: str, name: SideName, side: SideOfTurn) -> tuple[str, dict[str, Any]]:
    """The event of a side's end: its type and its fields."""
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
