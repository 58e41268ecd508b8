"""The actions that a battle allows, and the states of its turns. Pure: no query.

Visitors know of a turn's end once its clock has shown it (`arena.live.release`), and what they may do depends on that.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from django.utils import timezone

from arena import kinds, starts
from arena.live import release
from arena.models import Attempt, AttemptStatus, Battle, BattleStatus, Side, StartKind, Turn
from arena.shapes import AllowedActions, Blocked, Status


def allowed_actions(battle: Battle, turns: Sequence[Turn], now: datetime | None = None) -> AllowedActions:
    """What may be done next with this battle, as far as visitors know. `turns`: all of its turns."""
    now = now or timezone.now()
    running = any(not release.told(turn, now) for turn in turns)
    completed = completed_turns(turns, now)
    missing = starts.missing(battle, completed) if battle.starts > starts.ONE else []
    blocked = _vote_blocked(battle, running, bool(completed), bool(missing))
    is_unfinished = (battle.starts == starts.ONE or bool(missing)) and not is_full(battle, turns)
    return {
        "status": cast(Any, battle.status),
        "can_vote": blocked is None,
        "vote_blocked_because": blocked,
        "can_send": battle.status == BattleStatus.ONGOING and not running and is_unfinished,
        "can_explore": revealed(battle) and not running and kinds.of(battle.session).forks,
        "start_count": battle.starts,
    }


def is_full(battle: Battle, turns: Sequence[Turn]) -> bool:
    """Whether the battle has as many turns as its kind allows."""
    most = kinds.of(battle.session).most_turns
    return most is not None and sum(not turn.is_fork for turn in turns) >= most


def _vote_blocked(battle: Battle, running: bool, completed: bool, missing: bool) -> Blocked | None:
    if battle.status == BattleStatus.VOTED:
        return "already_voted"
    if battle.status == BattleStatus.ABANDONED:
        return "battle_closed"
    if running:
        return "turn_running"
    if not completed:
        return "no_completed_turn"
    return "starts_missing" if missing else None


def revealed(battle: Battle) -> bool:
    return battle.status == BattleStatus.VOTED


def completed_turns(turns: Sequence[Turn], now: datetime | None = None) -> list[Turn]:
    """Turns that both sides have completed, as far as visitors know."""
    return [turn for turn in turns if told_status(turn, now) == "completed"]


def sides_of(turn: Turn) -> dict[Side, Attempt]:
    return {Side(attempt.side): attempt for attempt in turn.attempts.all()}


def turn_status(turn: Turn) -> Status:
    """The turn's state, whether visitors know it or not: queued until both sides have started, running until both have
    settled, failed if either has failed."""
    sides = sides_of(turn)
    if all(attempt.settled for attempt in sides.values()):
        failed = any(attempt.status == AttemptStatus.FAILED for attempt in sides.values())
        return "failed" if failed else "completed"
    return _open_status(sides)


def told_status(turn: Turn, now: datetime | None = None) -> Status:
    """The turn's state as far as visitors know."""
    return turn_status(turn) if release.told(turn, now) else _open_status(sides_of(turn))


def _open_status(sides: dict[Side, Attempt]) -> Status:
    return "queued" if any(attempt.started_at is None for attempt in sides.values()) else "running"


def goes_on(turn: Turn) -> bool:
    """Whether it may continue another turn. Otherwise it starts in its seed's first state."""
    if turn.is_fork:
        return turn.forked_from_id is not None
    return turn.start == StartKind.CONTINUE and turn.seq > 1


def starts_from(turn: Turn, turns: Sequence[Turn]) -> tuple[dict[Side, str], int] | None:
    """Per side the recording that this turn continues, and after how many chunks (-1: at its end). None if it starts in
    its seed's first state. `turns`: all turns of its battle.

    Failed turns do not count: the next turn continues the last one that both sides completed.
    """
    if turn.is_fork:
        origin = next((each for each in turns if each.turn_id == turn.forked_from_id), None)
        return None if origin is None or turn.fork_record is None else (_recordings(origin), turn.fork_record)
    if not goes_on(turn):
        return None
    before = [each for each in turns if each.seq < turn.seq and not each.is_fork]
    completed = [each for each in before if each.settled_at is not None and turn_status(each) == "completed"]
    return (_recordings(max(completed, key=lambda each: each.seq)), -1) if completed else None


def _recordings(turn: Turn) -> dict[Side, str]:
    return {side: attempt.episode_id for side, attempt in sides_of(turn).items()}
