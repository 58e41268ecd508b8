"""The JSON that browsers get, declared once: for readers, for mypy, for the OpenAPI schema and for `check`.

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
FailureReason = Literal[
    "turn_failed", "policy_failed", "moderated", "timeout", "worker_lost", "not_hosted", "internal", "cancelled"
]
"""Before the vote a turn that a side failed is `turn_failed`, `not_hosted` or `cancelled`, on both sides."""
VoteName = Literal["left_better", "right_better", "tie", "both_bad"]
JudgementName = Literal["left", "right", "equal"]
Hidden = Literal["???"]


class Revealed(TypedDict):
    """Who played a side. Shown only after the vote."""

    model_id: str
    name: str
    family: str
    provenance: str


class Introduced(Revealed):
    """The same with the address of its page, null where its kind has none, and what the kind tells of it
    (`arena.kinds.Kind.introduce`)."""

    address: str | None
    facts: dict[str, bool | float | str | None]


Outcome = dict[str, bool | float | str | None]
"""The outcome of a side, as its kind describes it (`arena.kinds.Kind.outcome`). Shown only after the vote."""
Blocked = Literal["no_completed_turn", "starts_missing", "turn_running", "already_voted", "battle_closed"]
"""Why a vote is refused now: a code of `arena.errors`."""


class SideOfTurn(TypedDict):
    """`steps` and `error` are null until the turn's end is shown.

    Before the vote they are the same on both sides: `steps` is the longer side's, and if one failed, both have.
    """

    episode_id: str
    status: Status
    steps: int | None
    error: FailureReason | None
    outcome: NotRequired[Outcome]


class Exploration(TypedDict):
    """Where a fork started: at a record of another turn, or (null, null) in its seed's first state. `left_model_id`
    and `right_model_id`: who played in place of the battle's models, null for these. `moved`: thing -> its place [m] on
    the table, x and y in the robot's base frame, and its turn about the vertical [rad], if that was changed, too."""

    turn_id: str | None
    record: int | None
    seed: int
    left_model_id: str | None
    right_model_id: str | None
    moved: dict[str, list[float]]


class GoalJson(TypedDict):
    """What physics judges a turn by: a task, and the task's usual wording."""

    task_id: str
    text: str


class TurnJson(TypedDict):
    """`goal` and `max_steps` depend on the instruction alone; `goal` is null if it is free text, which only people
    judge. `exploration` is null unless the turn is a fork. `start_number`: which of the battle's several starts it
    plays, from 1.

    Step n of both sides is shown at `release_from` (null until both have started) plus n times `step_s` seconds.
    """

    turn_id: str
    seq: int
    instruction: str
    goal: GoalJson | None
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
    """The verdict on a side. Null if the instruction has no goal that is judged."""

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
"""Respect of the kind -> which side was better in it (left, right, equal). Null if the voter gave none."""


class VoteJson(TypedDict):
    vote_id: str
    vote: VoteName
    reasons: Reasons
    voted_at: str


class AllowedActions(TypedDict):
    """What the visitor may do next. `start_count`: how many starts the battle has."""

    status: Literal["ongoing", "voted", "abandoned"]
    can_vote: bool
    vote_blocked_because: Blocked | None
    can_send: bool
    can_explore: bool
    start_count: int


class BattleJson(AllowedActions):
    """`GET battles/{id}`, and the first message on its socket. `seq` is the last event that it includes. `secret`, the
    seed of what the models saw varied, is null before the vote, and in battles without. `starts` is null before
    the vote, and in battles of one start.
    """

    battle_id: str
    session_id: str
    kind: str
    seq: int
    left_model: Hidden | Introduced
    right_model: Hidden | Introduced
    turns: list[TurnJson]
    vote: VoteJson | None
    secret: str | None
    starts: list[StartJson] | None


class SharedBattle(TypedDict):
    """`GET shared/{id}`: a voted battle as anybody with its address may see it, without its owner."""

    battle_id: str
    kind: str
    left_model: Introduced
    right_model: Introduced
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
    """A session in a list. `title` is its first instruction. `latest_title` and `latest_vote` are of the last battle
    with an instruction; the last battle of all (`last_...`) may have none yet."""

    session_id: str
    user_id: str | None
    title: str | None
    latest_title: str | None
    latest_vote: VoteName | None
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
    """`starts`: in a battle of several starts, all turns that were sent, with the first."""

    status: Status
    starts: NotRequired[list[SentStart]]


class RevealedModels(TypedDict):
    left: Revealed
    right: Revealed


class CastVote(TypedDict):
    vote_id: str
    revealed_models: RevealedModels


class ProgressJson(TypedDict):
    """How much of the task each side did, 0 to 100, as the visitor judges it. Null: not judged."""

    left: int | None
    right: int | None


class FeedbackJson(TypedDict):
    """What a visitor added to a vote. `updated_at` is null as long as nothing was added."""

    battle_id: str
    reasons: Reasons
    why: str
    progress: ProgressJson
    updated_at: str | None


class GallerySide(TypedDict):
    """`thumbnail`: the address of a strip of key moments; null where the kind draws none."""

    model_id: str
    name: str
    episode_id: str
    thumbnail: str | None


class GalleryRow(TypedDict):
    """A voted battle in the gallery. `disagreement`: the judge saw one side succeed, the voter did not prefer it.
    `near_miss`: a side came close without success. `upset`: the lower rated won; null until ratings are published.
    """

    battle_id: str
    kind: str
    instruction: str
    task: str | None
    vote: VoteName
    voted_at: str
    left: GallerySide
    right: GallerySide
    disagreement: bool
    near_miss: bool
    upset: bool | None
    views: int


class GalleryPage(TypedDict):
    """`next`: the value of `after` for the next page; null on the last one."""

    results: list[GalleryRow]
    next: str | None


class OEmbedJson(TypedDict):
    """As oembed.com defines it."""

    version: Literal["1.0"]
    type: Literal["rich"]
    title: str
    provider_name: str
    provider_url: str
    html: str
    width: int
    height: int
    thumbnail_url: str
    thumbnail_width: int
    thumbnail_height: int


class JudgeAgreement(TypedDict):
    """Of the `battles` that count and were judged: the `share` in which people and a judge that is no person prefer the
    same side (or neither), its 95 % interval (Wilson, each battle by itself), and Cohen's kappa, null where it is
    undefined. Without a battle all are null, and `missing` says why: `no_judge` or `no_battles`."""

    battles: int
    share: float | None
    low: float | None
    high: float | None
    kappa: float | None
    missing: str


class ErrorJson(TypedDict):
    code: str
    detail: str


class ShapeError(ValueError):
    """A message that does not have its declared shape. The text says where, and what was expected."""


def check(value: Any, shape: Any, where: str = "message") -> None:
    """Raise ShapeError unless `value` is exactly what `shape` (a type as used in this file) declares."""
    try:
        _adapter(shape).validate_python([value])
    except ValidationError as error:
        raise ShapeError("; ".join(_describe(each, where) for each in error.errors(include_url=False))) from None


@cache
def _adapter(shape: Any) -> TypeAdapter[list[Any]]:
    """An adapter of a list, because the configuration applies only inside it: a TypedDict may have its own.

    JSON has no numbers that are not finite: one would make the whole message unreadable.
    """
    return TypeAdapter(list[shape], config=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False))


def _describe(error: "ErrorDetails", where: str) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error["loc"][1:])
    return f"{where}{path}: {error['msg'].replace('Input should be', 'expected')}, got {error['input']!r}"
