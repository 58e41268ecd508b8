"""The JSON that the arena tells browsers, declared once: for readers, for mypy, for the OpenAPI schema and for `check`.

NotRequired must be seen by TypedDict itself, so annotations are not postponed here.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NotRequired

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

SideName = Literal["left", "right"]
Status = Literal["queued", "running", "completed", "failed"]
FailureReason = Literal["turn_failed", "policy_failed", "timeout", "worker_lost", "not_hosted", "internal", "cancelled"]
"""Before the vote a turn that a side failed is `turn_failed`, `not_hosted` or `cancelled`, on both sides."""
VoteName = Literal["left_better", "right_better", "tie", "both_bad"]
JudgementName = Literal["left", "right", "equal"]
Hidden = Literal["???"]


class Revealed(TypedDict):
    """Who a side was, told after the vote only."""

    model_id: str
    name: str
    family: str
    provenance: str


Outcome = dict[str, bool | int | float | str | None]
"""What became of a side, told after the vote only: in the words of its kind (`arena.kinds.Kind.outcome`)."""
Blocked = Literal["no_completed_turn", "starts_missing", "turn_running", "already_voted", "battle_closed"]
"""Why there can be no vote now: a code of `arena.errors`."""


class SideOfTurn(TypedDict):
    """`steps` and `error` are null until the turn's end is told.

    Before the vote both sides have the same: `steps` is the longer side's, and when one failed, both have.
    """

    episode_id: str
    status: Status
    steps: int | None
    error: FailureReason | None
    outcome: NotRequired[Outcome]


class Exploration(TypedDict):
    """Where an exploration started: at a record of another turn, or (null, null) in its seed's first state."""

    turn_id: str | None
    record: int | None
    seed: int


class TurnJson(TypedDict):
    """`exploration` is null for the turns that a vote is about. `start_number`: in a battle of several starts, which of
    them it plays, from 1.

    Step n of both sides is shown at `release_from` (null until both have started) plus n times `step_s` seconds.
    """

    turn_id: str
    seq: int
    instruction: str
    start: Literal["continue", "reset"]
    start_number: int | None
    status: Status
    release_from: str | None
    step_s: float
    max_steps: int
    created_at: str
    exploration: Exploration | None
    left: SideOfTurn
    right: SideOfTurn


class EndOfStart(TypedDict):
    """The verdict on a side; null where the instruction has no judged goal."""

    success: bool | None
    progress: float | None


class StartJson(TypedDict):
    """One of several starts of a voted battle: the turn that both sides completed from it. `seq` is the turn's."""

    number: int
    turn_id: str
    seq: int
    seed: int
    left: EndOfStart
    right: EndOfStart


Reasons = dict[str, JudgementName | None]
"""Respect of the kind -> which side was better in it (left, right, equal); null where nothing was said."""


class VoteJson(TypedDict):
    vote_id: str
    vote: VoteName
    reasons: Reasons
    voted_at: str


class AllowedActions(TypedDict):
    """What the visitor may do next. `start_count`: from how many starts the battle is shown."""

    status: Literal["ongoing", "voted", "abandoned"]
    can_vote: bool
    vote_blocked_because: Blocked | None
    can_send: bool
    can_explore: bool
    start_count: int


class BattleJson(AllowedActions):
    """`GET battles/{id}`, and the first message on its socket. `seq` is the last event that it includes. `secret`, from
    which what the models saw was varied, is null before the vote, and of battles that had none. `starts` is null before
    the vote, and of battles of one start.
    """

    battle_id: str
    session_id: str
    kind: str
    seq: int
    left_model: Hidden | Revealed
    right_model: Hidden | Revealed
    turns: list[TurnJson]
    vote: VoteJson | None
    secret: str | None
    starts: list[StartJson] | None


class SharedBattle(TypedDict):
    """`GET shared/{id}`: a voted battle as anybody with its address may see it, without whose it is."""

    battle_id: str
    kind: str
    left_model: Revealed
    right_model: Revealed
    turns: list[TurnJson]
    vote: VoteJson
    starts: list[StartJson] | None


class BattleRow(TypedDict):
    """A battle in a list."""

    battle_id: str
    seq: int
    status: Literal["ongoing", "voted", "abandoned"]
    title: str | None
    created_at: str
    left_model: Hidden | Revealed
    right_model: Hidden | Revealed
    vote: VoteName | None


class SessionRow(TypedDict):
    session_id: str
    user_id: str | None
    title: str | None
    kind: str
    created_at: str
    last_active_at: str
    battle_count: int
    last_battle_id: str | None
    last_status: Literal["ongoing", "voted", "abandoned"] | None
    last_vote: VoteName | None


class SessionJson(TypedDict):
    session_id: str
    user_id: str | None
    title: str | None
    kind: str
    created_at: str
    last_active_at: str
    battles: list[BattleRow]


class SessionList(TypedDict):
    results: list[SessionRow]


class BattleList(TypedDict):
    results: list[BattleRow]


class OpenedBattle(TypedDict):
    session_id: str
    battle_id: str
    kind: str
    left_model: Hidden
    right_model: Hidden


class SentStart(TypedDict):
    """One of several turns that were sent at once."""

    turn_id: str
    left_episode_id: str
    right_episode_id: str


class SentTurn(SentStart):
    """`starts`: of a battle of several starts, all turns that were sent, the first of them included."""

    status: Status
    starts: NotRequired[list[SentStart]]


class RevealedModels(TypedDict):
    left: Revealed
    right: Revealed


class CastVote(TypedDict):
    vote_id: str
    revealed_models: RevealedModels


class ErrorJson(TypedDict):
    code: str
    detail: str


class ShapeError(ValueError):
    """A message that is not what was declared; says where and what would have been right."""


def check(value: Any, shape: Any, where: str = "message") -> None:
    """Raise ShapeError unless `value` is exactly what `shape` (a type as used in this file) declares."""
    try:
        _adapter(shape).validate_python([value])
    except ValidationError as error:
        raise ShapeError("; ".join(_told(each, where) for each in error.errors(include_url=False))) from None


@cache
def _adapter(shape: Any) -> TypeAdapter[list[Any]]:
    """Of a list, since only what is within it is read with our settings: a TypedDict may have some of its own.

    JSON knows no number that is not finite: one of them would make the whole message unreadable.
    """
    return TypeAdapter(list[shape], config=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))


def _told(error: "ErrorDetails", where: str) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"][1:])
    return f"{where}{path}: {error['msg'].replace('Input should be', 'expected')}, got {error['input']!r}"
