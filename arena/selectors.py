"""Reads shaped for a screen, and the one place that knows what may be shown of a battle before its vote.

Blind means that nothing here differs by who is who: what is told of a side is the turn's, at the moment that the clock
of the turn says (`arena.release`), and names, outcomes, durations and hashes wait for the vote.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from django.conf import settings
from django.db.models import Count, Max, Prefetch, Q
from django.utils import timezone

from arena import release, starts
from arena.errors import SceneChanged
from arena.models import (
    REASONS,
    Battle,
    BattleStatus,
    Rollout,
    RolloutStatus,
    Session,
    Side,
    Turn,
    Vote,
    row_or_none,
)
from arena.scene_files import manifest_of
from arena.shapes import (
    BattleJson,
    BattleRow,
    Doors,
    EndOfStart,
    EpisodeJson,
    EpisodeState,
    Exploration,
    FailureReason,
    Hidden,
    Outcome,
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
from policies.models import Policy
from simulation.contracts import Floats
from simulation.view_format import rounded_states, until, view_of

HIDDEN: Hidden = "???"
SESSIONS_LISTED = 200
ABOUT_THE_TURN: tuple[FailureReason, ...] = ("cancelled", "not_hosted")


def snapshot(battle_id: str) -> BattleJson:
    """The battle as its visitor may see it now; raises Battle.DoesNotExist."""
    return snapshot_and_news(battle_id)[0]


def snapshot_and_news(battle_id: str) -> tuple[BattleJson, datetime | None]:
    """The same, and when there is more to tell without anything happening: a turn has settled and is not told yet."""
    battle = find_battle(battle_id)
    if battle is None:
        raise Battle.DoesNotExist
    now = timezone.now()
    untold = release.untold(battle.turns.all(), now)
    return battle_json(battle, now), untold.shown_at if untold else None


def find_battle(battle_id: str) -> Battle | None:
    """All that a snapshot shows, in two queries: the battle, and so its `event_seq`, is read before its turns."""
    battle = row_or_none(Battle.objects.to_be_shown().filter(battle_id=battle_id))
    if battle is not None:
        battle.know_turns(battle.turns_with_sides())
    return battle


def battle_json(battle: Battle, now: datetime | None = None) -> BattleJson:
    now = now or timezone.now()
    turns = sorted(battle.turns.all(), key=lambda turn: turn.seq)
    return {
        "battle_id": battle.battle_id,
        "session_id": battle.session_id,
        "robot_id": battle.session.robot_id,
        "scene_id": battle.session.scene_id,
        "seq": _told_seq(battle, turns, now),
        "left_model": shown_model(battle, Side.LEFT),
        "right_model": shown_model(battle, Side.RIGHT),
        "turns": [turn_json(turn, revealed(battle), now) for turn in turns],
        "vote": vote_json(vote_of(battle)),
        "secret": shown_secret(battle),
        "starts": starts_json(battle, turns),
        **doors(battle, turns, now),
    }


def _told_seq(battle: Battle, turns: list[Turn], now: datetime) -> int:
    """The last event that visitors know of."""
    untold = release.untold(turns, now)
    return battle.event_seq if untold is None or untold.told_seq is None else untold.told_seq


def revealed(battle: Battle) -> bool:
    return battle.status == BattleStatus.VOTED


def shown_model(battle: Battle, side: Side) -> Hidden | Revealed:
    return revealed_model(battle, side) if revealed(battle) else HIDDEN


def revealed_model(battle: Battle, side: Side) -> Revealed:
    policy: Policy = battle.left_model if side == Side.LEFT else battle.right_model
    return {"model_id": policy.id, "name": policy.name, "family": policy.family, "provenance": policy.provenance}


def revealed_models(battle: Battle) -> RevealedModels:
    return {"left": revealed_model(battle, Side.LEFT), "right": revealed_model(battle, Side.RIGHT)}


def shown_secret(battle: Battle) -> str | None:
    return battle.secret or None if revealed(battle) else None


def vote_of(battle: Battle) -> Vote | None:
    return battle.vote if hasattr(battle, "vote") else None


def vote_json(vote: Vote | None) -> VoteJson | None:
    if vote is None:
        return None
    reasons = {name: getattr(vote, name) or None for name in REASONS}
    told = {"vote_id": vote.vote_id, "vote": vote.vote, "reasons": reasons, "voted_at": _time(vote.voted_at)}
    return cast(VoteJson, told)


def shared_battle(battle_id: str) -> SharedBattle | None:
    """What may be shown to everybody: a battle that has its vote, with the turns that the vote is about."""
    battle = find_battle(battle_id)
    vote = vote_json(vote_of(battle)) if battle and revealed(battle) else None
    if battle is None or vote is None:
        return None
    turns = sorted(battle.turns.all(), key=lambda turn: turn.seq)
    return {
        "battle_id": battle.battle_id,
        "robot_id": battle.session.robot_id,
        "scene_id": battle.session.scene_id,
        "left_model": revealed_model(battle, Side.LEFT),
        "right_model": revealed_model(battle, Side.RIGHT),
        "turns": [turn_json(turn, show_outcome=True) for turn in turns if not turn.exploration],
        "vote": vote,
        "starts": starts_json(battle, turns),
    }


def starts_json(battle: Battle, turns: list[Turn]) -> list[StartJson] | None:
    """How both sides did from each start; None before the vote, and where there is one start."""
    if battle.starts == starts.ONE or not revealed(battle):
        return None
    played = {turn.start_seed: turn for turn in turns if turn_status(turn) == "completed"}
    numbered = enumerate(starts.seeds(battle), 1)
    return [_start_json(number, played[seed]) for number, seed in numbered if seed in played]


def _start_json(number: int, turn: Turn) -> StartJson:
    sides = _sides(turn)
    return {
        "number": number,
        "turn_id": turn.turn_id,
        "seq": turn.seq,
        "seed": turn.seed,
        "left": _end_of_start(sides[Side.LEFT]),
        "right": _end_of_start(sides[Side.RIGHT]),
    }


def _end_of_start(rollout: Rollout) -> EndOfStart:
    return {"success": rollout.success, "progress": rollout.progress}


def doors(battle: Battle, turns: list[Turn], now: datetime | None = None) -> Doors:
    """What may be done next with this battle, as far as visitors know (`arena.release`)."""
    now = now or timezone.now()
    running = any(not release.told(turn, now) for turn in turns)
    completed = completed_turns(turns, now)
    missing = starts.missing(battle, completed) if battle.starts > starts.ONE else []
    blocked: Any = None
    if battle.status == BattleStatus.VOTED:
        blocked = "already_voted"
    elif battle.status == BattleStatus.ABANDONED:
        blocked = "battle_closed"
    elif running:
        blocked = "turn_running"
    elif not completed:
        blocked = "no_completed_turn"
    elif missing:
        blocked = "starts_missing"
    may_go_on = battle.starts == starts.ONE or bool(missing)
    return {
        "status": cast(Any, battle.status),
        "can_vote": blocked is None,
        "vote_blocked_because": blocked,
        "can_send": battle.status == BattleStatus.ONGOING and not running and may_go_on,
        "can_explore": revealed(battle) and not running,
        "start_count": battle.starts,
    }


def completed_turns(turns: list[Turn], now: datetime | None = None) -> list[Turn]:
    """Those that both sides have completed, as far as visitors know."""
    return [turn for turn in turns if told_status(turn, now) == "completed"]


def turn_json(turn: Turn, show_outcome: bool, now: datetime | None = None) -> TurnJson:
    """The turn as visitors know it. `show_outcome`: with the truth of each side, which comes with the vote."""
    sides = _sides(turn)
    status = told_status(turn, now)
    shown = _true_side if show_outcome else _blind_side
    return {
        "turn_id": turn.turn_id,
        "seq": turn.seq,
        "instruction": turn.instruction,
        "start": cast(Any, turn.start),
        "start_number": starts.number_of(turn),
        "status": status,
        "release_from": _time(turn.release_from) if turn.release_from else None,
        "step_s": release.step_s(),
        "max_steps": settings.ROLLOUT_MAX_STEPS,
        "created_at": _time(turn.created_at),
        "exploration": exploration_json(turn),
        "left": shown(sides, Side.LEFT, status),
        "right": shown(sides, Side.RIGHT, status),
    }


def exploration_json(turn: Turn) -> Exploration | None:
    if not turn.exploration:
        return None
    return {"turn_id": turn.explores_id, "record": turn.explores_record, "seed": turn.seed}


def turn_status(turn: Turn) -> Status:
    """How it is with the turn, whether visitors know it or not."""
    return _status(_sides(turn))


def told_status(turn: Turn, now: datetime | None = None) -> Status:
    """The same, as far as visitors know."""
    sides = _sides(turn)
    return _status(sides) if release.told(turn, now) else _open_status(sides)


def _sides(turn: Turn) -> dict[Side, Rollout]:
    return {Side(rollout.side): rollout for rollout in turn.rollouts.all()}


def _status(sides: dict[Side, Rollout]) -> Status:
    """Queued until both sides have started, running until both have settled, failed if either has failed."""
    if all(rollout.settled for rollout in sides.values()):
        failed = any(rollout.status == RolloutStatus.FAILED for rollout in sides.values())
        return "failed" if failed else "completed"
    return _open_status(sides)


def _open_status(sides: dict[Side, Rollout]) -> Status:
    return "queued" if any(rollout.started_at is None for rollout in sides.values()) else "running"


def _blind_side(sides: dict[Side, Rollout], side: Side, status: Status) -> SideOfTurn:
    """Nothing but the episode's id differs between the two: `status` and the rest are the turn's."""
    return {
        "episode_id": sides[side].episode_id,
        "status": status,
        "steps": max(rollout.steps_done for rollout in sides.values()) if status == "completed" else None,
        "error": _reason(sides) if status == "failed" else None,
    }


def _true_side(sides: dict[Side, Rollout], side: Side, status: Status) -> SideOfTurn:
    """What became of the side itself, once the turn's end is told."""
    rollout = sides[side]
    if status not in ("completed", "failed"):
        return _blind_side(sides, side, status)
    failed = rollout.status == RolloutStatus.FAILED
    return {
        "episode_id": rollout.episode_id,
        "status": cast(Any, rollout.status),
        "steps": rollout.steps_done,
        "error": cast(Any, rollout.termination_reason) if failed else None,
        "outcome": outcome_json(rollout),
    }


def _reason(sides: dict[Side, Rollout]) -> FailureReason:
    """Why the turn failed. By a side's own reason its policy could be known, so only what is about the turn is said."""
    reasons = {rollout.termination_reason for rollout in sides.values()}
    return cast(FailureReason, next((reason for reason in ABOUT_THE_TURN if reason in reasons), "turn_failed"))


def outcome_json(rollout: Rollout) -> Outcome:
    return {
        "success": rollout.success,
        "progress": rollout.progress,
        "termination_reason": rollout.termination_reason,
        "steps": rollout.steps_done,
        "duration_ms": rollout.duration_ms,
        "start_hash": rollout.start_hash,
    }


def sessions_of(visitor: str) -> list[SessionRow]:
    """The visitor's sessions, newest activity first."""
    rows = Session.objects.of_visitor(visitor)[:SESSIONS_LISTED]
    return [
        {
            "session_id": row.session_id,
            "user_id": row.user_id,
            "title": row.title,  # type: ignore[attr-defined]
            "robot_id": row.robot_id,
            "scene_id": row.scene_id,
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
        "robot_id": session.robot_id,
        "scene_id": session.scene_id,
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
        "title": battle.title,  # type: ignore[attr-defined]
        "created_at": _time(battle.created_at),
        "left_model": shown_model(battle, Side.LEFT),
        "right_model": shown_model(battle, Side.RIGHT),
        "vote": cast(Any, vote.vote) if vote else None,
    }


def find_turn(turn_id: str) -> Turn | None:
    """A turn with its rollouts, battle and session: one query."""
    turns = Rollout.objects.filter(turn__turn_id=turn_id).select_related("turn__battle__session").by_turn()
    return turns[0] if turns else None


def find_rollout(episode_id: str) -> Rollout | None:
    """A rollout with its turn, battle and session, and what is told of both sides: one query."""
    sides = Rollout.objects.select_related("turn__battle__session").annotate(
        common_steps=Max("turn__rollouts__steps_done"),
        failed_sides=Count("turn__rollouts", filter=Q(turn__rollouts__status=RolloutStatus.FAILED)),
    )
    return row_or_none(sides.filter(episode_id=episode_id))


def may_be_shown(rollout: Rollout) -> bool:
    """An episode may be seen once the end of its turn is told; half of a failed turn, with the vote."""
    if rollout.status != RolloutStatus.COMPLETED or not release.told(rollout.turn):
        return False
    failed_sides: int = rollout.failed_sides  # type: ignore[attr-defined] # of `find_rollout`
    return failed_sides == 0 or revealed(rollout.turn.battle)


def is_shared(turn: Turn) -> bool:
    """Whether everybody who has the address may see it: a voted battle's turns, but not what was explored."""
    return revealed(turn.battle) and not turn.exploration


def episode_json(rollout: Rollout, document: dict[str, Any]) -> EpisodeJson:
    """The recording as it is after the vote; before it, what can be seen of it (`arena.shapes.EpisodeJson`)."""
    known = revealed(rollout.turn.battle)
    return {
        "episode_id": rollout.episode_id,
        "turn_id": rollout.turn_id,
        "side": cast(Any, rollout.side),
        "instruction": rollout.turn.instruction,
        "robot_id": document["robot_id"],
        "scene_id": document["scene_id"],
        "actions": document["actions"] if known else [],
        "states": _exact_states(document) if known else cast(Any, rounded_states(*shown_view(rollout, document))),
        "engine_version": document["engine_version"],
        "scene_hash": document["scene_hash"],
        "start_hash": rollout.start_hash if known else None,
        "outcome": outcome_json(rollout) if known else None,
        "exact": known,
        "secret": document.get("secret") or None if known else None,
        "render_profile": document["render_profile"] if known else None,
    }


def _exact_states(document: dict[str, Any]) -> list[EpisodeState]:
    states = document["states"]
    return [{"time": state["time"], "qpos": state["qpos"], "qvel": state["qvel"]} for state in states]


def shown_view(rollout: Rollout, document: dict[str, Any]) -> tuple[bytes, Floats]:
    """The packed rows of what can be seen (simulation.view_format), as long as the longer side's, and their scale.

    `rollout` comes from `find_rollout`. Raises SceneNotBuilt for an old recording whose scene's files are missing, and
    SceneChanged where they have other positions.
    """
    old_scale = None if "view" in document else manifest_of(document["robot_id"], document["scene_id"])["view"]["scale"]
    if old_scale is not None and len(old_scale) != len(document["states"][0]["qpos"]):
        raise SceneChanged
    content, scale = view_of(document, old_scale)
    common: int = rollout.common_steps  # type: ignore[attr-defined]
    return until(common, content, len(scale)), scale


def starts_from(turn: Turn) -> tuple[dict[Side, str], int] | None:
    """Per side the episode from which this turn goes on, and after how many steps (-1: at its end); None when it starts
    from its seed's first state.
    """
    if turn.exploration:
        if turn.explores is None or turn.explores_record is None:
            return None
        return {Side(each.side): each.episode_id for each in turn.explores.rollouts.all()}, turn.explores_record
    before = continues_from(turn)
    return (before, -1) if before else None


def continues_from(turn: Turn) -> dict[Side, str] | None:
    """Per side the episode at whose end this turn starts; None when it starts from the seed's first state.

    A turn that a side failed is as if it had not been: the next one starts, on both sides, where the last turn that
    both sides completed ended.
    """
    if turn.start == "reset" or turn.seq == 1:
        return None
    before = turn.battle.turns.completed().filter(seq__lt=turn.seq).order_by("-seq")
    last = before.prefetch_related(Prefetch("rollouts", Rollout.objects.only("episode_id", "side", "turn"))).first()
    return {Side(rollout.side): rollout.episode_id for rollout in last.rollouts.all()} if last else None


def _time(moment: datetime) -> str:
    """UTC, to the millisecond: 2026-01-31T12:00:00.000Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
