"""Reads shaped for a screen, and the one place that knows what may be shown of a battle before its vote.

Before the vote nothing here depends on who plays. What is shown of a side is the turn's, when the turn's clock says so
(`arena.live.release`). Names, outcomes, durations and hashes wait for the vote.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, cast

from django.db.models import Model, Prefetch, prefetch_related_objects
from django.utils import timezone
from typing_extensions import TypedDict

from arena import kinds, starts
from arena.kinds import place_of
from arena.live import release
from arena.models import (
    Attempt,
    AttemptStatus,
    Battle,
    Compiled,
    Contestant,
    Feedback,
    Session,
    Side,
    Turn,
    Vote,
    turns_of,
)
from arena.rules import allowed_actions, revealed, sides_of, told_status, turn_status
from arena.shapes import (
    BattleJson,
    BattleRow,
    EndOfStart,
    Exploration,
    FailureReason,
    FeedbackJson,
    Hidden,
    Introduced,
    Revealed,
    RevealedModels,
    SessionJson,
    SessionRow,
    SharedBattle,
    SideOfTurn,
    StartJson,
    Status,
    TurnJson,
    VoteJson,
)

HIDDEN: Hidden = "???"
_shown = Compiled(lambda battle_id: Battle.objects.to_be_shown().filter(battle_id=battle_id).order_by())
SESSIONS_LISTED = 200
ABOUT_THE_TURN: tuple[FailureReason, ...] = ("cancelled", "not_hosted")


def snapshot(battle_id: str) -> tuple[BattleJson, datetime | None]:
    """The battle as its visitor may see it now, and when the end of a settled turn will be shown.

    Raises Battle.DoesNotExist.
    """
    battle = find_battle(battle_id)
    if battle is None:
        raise Battle.DoesNotExist
    now = timezone.now()
    unshown = release.untold(battle.turns.all(), now)
    return battle_json(battle, now), unshown.shown_at if unshown else None


def find_battle(battle_id: str) -> Battle | None:
    """All that a snapshot shows, in two queries. The battle, with its `event_seq`, is read before its turns."""
    battle = _shown.first(battle_id)
    if battle is not None:
        battle.cache_turns(battle.turns_with_sides())
    return battle


def battle_json(battle: Battle, now: datetime | None = None) -> BattleJson:
    now = now or timezone.now()
    turns = sorted(battle.turns.all(), key=lambda turn: turn.seq)
    return {
        "battle_id": battle.battle_id,
        "session_id": battle.session_id,
        "kind": battle.session.kind,
        **_place(battle.session),
        "seq": _shown_seq(battle, turns, now),
        **shown_contestants(battle),
        "turns": [turn_json(turn, revealed(battle), now) for turn in turns],
        "vote": vote_json(vote_of(battle), battle.session.kind),
        "secret": shown_secret(battle),
        "starts": starts_json(battle, turns),
        **allowed_actions(battle, turns, now),
    }


def _shown_seq(battle: Battle, turns: list[Turn], now: datetime) -> int:
    """The number of the last event that visitors know."""
    unshown = release.untold(turns, now)
    return battle.event_seq if unshown is None or unshown.told_seq is None else unshown.told_seq


def shown_model(battle: Battle, side: Side) -> Hidden | Revealed:
    return revealed_model(battle, side) if revealed(battle) else HIDDEN


def revealed_model(battle: Battle, side: Side) -> Revealed:
    model: Contestant = battle.left_model if side == Side.LEFT else battle.right_model
    return {"model_id": model.id, "name": model.name, "family": model.family, "provenance": model.provenance}


def revealed_models(battle: Battle) -> RevealedModels:
    return {"left": revealed_model(battle, Side.LEFT), "right": revealed_model(battle, Side.RIGHT)}


class BothHidden(TypedDict):
    left_model: Hidden
    right_model: Hidden


class BothIntroduced(TypedDict):
    left_model: Introduced
    right_model: Introduced


def shown_contestants(battle: Battle) -> BothHidden | BothIntroduced:
    return introduced(battle) if revealed(battle) else {"left_model": HIDDEN, "right_model": HIDDEN}


def introduced(battle: Battle) -> BothIntroduced:
    """Both contestants with what their kind tells of them. What it needs is read at once, unless it has been."""
    kind = kinds.of(battle.session)
    added = (_columns_of(relation, columns) for relation, columns in kind.introduced_with.items())
    prefetch_related_objects([battle.left_model, battle.right_model], *added)
    return {"left_model": _introduced(battle, Side.LEFT, kind), "right_model": _introduced(battle, Side.RIGHT, kind)}


def _columns_of(relation: str, columns: tuple[str, ...]) -> Prefetch[Any]:
    """What a contestant's `relation` is read with: these columns."""
    table = cast("type[Model]", Contestant._meta.get_field(relation).related_model)
    return Prefetch(relation, table._default_manager.only(*columns))


def _introduced(battle: Battle, side: Side, kind: kinds.Kind) -> Introduced:
    model = battle.left_model if side == Side.LEFT else battle.right_model
    known = {"address": kind.contestant_address(model.id), "facts": kind.introduce(model)}
    return cast(Introduced, {**revealed_model(battle, side), **known})


def shown_secret(battle: Battle) -> str | None:
    return battle.secret or None if revealed(battle) else None


def vote_of(battle: Battle) -> Vote | None:
    return battle.vote if hasattr(battle, "vote") else None


def vote_json(vote: Vote | None, kind: str) -> VoteJson | None:
    if vote is None:
        return None
    reasons = {name: vote.reasons.get(name) for name in kinds.get(kind).reasons}
    shown = {"vote_id": vote.vote_id, "vote": vote.vote, "reasons": reasons, "voted_at": _time(vote.voted_at)}
    return cast(VoteJson, shown)


def feedback_json(battle: Battle, feedback: Feedback | None) -> FeedbackJson:
    """What was added to the vote of `battle`, of which the session is loaded. None: nothing."""
    reasons = feedback.reasons if feedback else {}
    return {
        "battle_id": battle.battle_id,
        "reasons": {name: reasons.get(name) for name in kinds.of(battle.session).reasons},
        "why": feedback.why if feedback else "",
        "progress": {
            "left": feedback.left_progress if feedback else None,
            "right": feedback.right_progress if feedback else None,
        },
        "updated_at": _time(feedback.updated_at) if feedback else None,
    }


def shared_battle(battle_id: str, check: Callable[[Battle], None] | None = None) -> SharedBattle | None:
    """A voted battle as everybody may see it, with its judged turns. None if it is not voted.

    `check` raises for a battle that a moderator hid from the caller. Without it a hidden battle is None.
    """
    battle = find_battle(battle_id)
    if battle is not None and battle.hidden_at is not None and check is None:
        return None
    if battle is not None and check is not None and revealed(battle):
        check(battle)
    vote = vote_json(vote_of(battle), battle.session.kind) if battle and revealed(battle) else None
    if battle is None or vote is None:
        return None
    turns = sorted(battle.turns.all(), key=lambda turn: turn.seq)
    return {
        "battle_id": battle.battle_id,
        "kind": battle.session.kind,
        **_place(battle.session),
        **introduced(battle),
        "turns": [public_turn_json(turn) for turn in turns if not turn.is_fork],
        "vote": vote,
        "starts": starts_json(battle, turns),
    }


def starts_json(battle: Battle, turns: list[Turn]) -> list[StartJson] | None:
    """How both sides did from each start. None before the vote, and for battles of one start."""
    if battle.starts == starts.ONE or not revealed(battle):
        return None
    played = {turn.start_seed: turn for turn in turns if turn_status(turn) == "completed"}
    numbered = enumerate(starts.seeds(battle), 1)
    return [_start_json(number, played[seed]) for number, seed in numbered if seed in played]


def _start_json(number: int, turn: Turn) -> StartJson:
    sides = sides_of(turn)
    return {
        "number": number,
        "turn_id": turn.turn_id,
        "seq": turn.seq,
        "seed": turn.seed,
        "left": _end_of_start(kinds.of(turn), sides[Side.LEFT]),
        "right": _end_of_start(kinds.of(turn), sides[Side.RIGHT]),
    }


def _end_of_start(kind: kinds.Kind, attempt: Attempt) -> EndOfStart:
    told = kind.outcome(attempt)
    return {"success": told["success"], "progress": told["progress"]}


def turn_json(turn: Turn, show_outcome: bool, now: datetime | None = None) -> TurnJson:
    """The turn as visitors know it. `show_outcome`: with each side's own outcome, as after the vote."""
    kind, sides = kinds.of(turn), sides_of(turn)
    status = told_status(turn, now)
    with_outcome = status in ("completed", "failed") and show_outcome
    return {
        "turn_id": turn.turn_id,
        "seq": turn.seq,
        "instruction": turn.instruction,
        "goal": kind.goal_of(turn.instruction, turn.battle.session.scene, turn.created_at),
        "start": cast(Any, turn.start),
        "start_number": starts.number_of(turn),
        "status": status,
        "release_from": _time(turn.release_from) if turn.release_from else None,
        "step_s": kind.chunk_s,
        "max_steps": kinds.longest_of(turn),
        "created_at": _time(turn.created_at),
        "exploration": fork_json(turn),
        "left": _revealed_side(kind, sides[Side.LEFT]) if with_outcome else _blind_side(sides, Side.LEFT, status),
        "right": _revealed_side(kind, sides[Side.RIGHT]) if with_outcome else _blind_side(sides, Side.RIGHT, status),
    }


def public_turn_json(turn: Turn) -> TurnJson:
    """A turn of a voted battle as anybody may see it: without an instruction that a moderator hid."""
    return {**turn_json(turn, show_outcome=True), "instruction": turn.public_instruction}


def fork_json(turn: Turn) -> Exploration | None:
    if not turn.is_fork:
        return None
    own = {Side.LEFT: turn.battle.left_model_id, Side.RIGHT: turn.battle.right_model_id}
    other = {
        side: attempt.model_id if attempt.model_id != own[side] else None for side, attempt in sides_of(turn).items()
    }
    return {
        "turn_id": turn.forked_from_id,
        "record": turn.fork_record,
        "seed": turn.seed,
        "left_model_id": other[Side.LEFT],
        "right_model_id": other[Side.RIGHT],
        "moved": (turn.fork_changes or {}).get("moved", {}),
    }


def _blind_side(sides: dict[Side, Attempt], side: Side, status: Status) -> SideOfTurn:
    """The side before the vote. Only the episode's id is its own; `status` and the rest are the turn's."""
    return {
        "episode_id": sides[side].episode_id,
        "status": status,
        "steps": max(attempt.length for attempt in sides.values()) if status == "completed" else None,
        "error": _reason(sides) if status == "failed" else None,
    }


def _revealed_side(kind: kinds.Kind, attempt: Attempt) -> SideOfTurn:
    """The side after the vote, once the turn's end is shown."""
    failed = attempt.status == AttemptStatus.FAILED
    return {
        "episode_id": attempt.episode_id,
        "status": cast(Any, attempt.status),
        "steps": attempt.length,
        "error": cast(Any, attempt.termination_reason) if failed else None,
        "outcome": kind.outcome(attempt),
    }


def _reason(sides: dict[Side, Attempt]) -> FailureReason:
    """Why the turn failed. Reasons of one side are left out, because they could reveal its contestant."""
    reasons = {attempt.termination_reason for attempt in sides.values()}
    return cast(FailureReason, next((reason for reason in ABOUT_THE_TURN if reason in reasons), "turn_failed"))


def sessions_of(visitor: str) -> list[SessionRow]:
    """The visitor's sessions, newest activity first."""
    rows = Session.objects.of_visitor(visitor, SESSIONS_LISTED)
    return [
        {
            "session_id": row.session_id,
            "user_id": row.user_id,
            "title": row.title,  # type: ignore[attr-defined]
            "latest_title": row.latest_title,  # type: ignore[attr-defined]
            "latest_vote": row.latest_vote,  # type: ignore[attr-defined]
            "kind": row.kind,
            **_place(row),
            "created_at": _time(row.created_at),
            "last_active_at": _time(row.last_active_at),
            "battle_count": row.battle_count,  # type: ignore[attr-defined]
            "last_battle_id": row.last_battle_id,  # type: ignore[attr-defined]
            "last_status": row.last_status,  # type: ignore[attr-defined]
            "last_vote": row.last_vote,  # type: ignore[attr-defined]
        }
        for row in rows
    ]


def session_json(session: Session) -> SessionJson:
    battles = battles_of(session)
    return {
        "session_id": session.session_id,
        "user_id": session.user_id,
        "title": next((row["title"] for row in battles if row["title"] is not None), None),
        "kind": session.kind,
        **_place(session),
        "created_at": _time(session.created_at),
        "last_active_at": _time(session.last_active_at),
        "battles": battles,
    }


def battles_of(session: Session) -> list[BattleRow]:
    """The session's battles in the order they were opened."""
    battles = session.battles.with_titles().select_related("left_model", "right_model", "vote")
    return [_battle_row(battle) for battle in battles.order_by("seq_in_session")]


def _battle_row(battle: Battle) -> BattleRow:
    vote = vote_of(battle)
    return {
        "battle_id": battle.battle_id,
        "seq": battle.seq_in_session,
        "status": cast(Any, battle.status),
        "title": battle.title,  # type: ignore[attr-defined] # of with_titles
        "created_at": _time(battle.created_at),
        "left_model": shown_model(battle, Side.LEFT),
        "right_model": shown_model(battle, Side.RIGHT),
        "vote": cast(Any, vote.vote) if vote else None,
    }


def find_turn(turn_id: str) -> Turn | None:
    """A turn with its attempts, battle and session: one query."""
    sides = Attempt.objects.filter(turn__turn_id=turn_id).select_related("turn__battle__session").with_turns()
    return next(iter(turns_of(sides)), None)


def _place(session: Session) -> Any:
    return kinds.of(session).place_json(place_of(session))


def _time(moment: datetime) -> str:
    """UTC, to the millisecond: 2026-01-31T12:00:00.000Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
