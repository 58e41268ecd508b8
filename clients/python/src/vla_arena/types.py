"""What an arena answers, as far as this client reads it. `/api/docs/` of an arena describes all of it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

Choice = Literal["left_better", "right_better", "tie", "both_bad"]
Status = Literal["queued", "running", "completed", "failed"]
Start = Literal["continue", "reset"]
Comparison = Literal["left", "right", "equal"]


class OpenedBattle(TypedDict):
    session_id: str
    battle_id: str
    kind: str
    left_model: Literal["???"]
    right_model: Literal["???"]
    robot_id: NotRequired[str]
    scene_id: NotRequired[str]


class Side(TypedDict):
    """`error` is None unless it failed. `steps` is None until the end is told; `outcome` before the vote."""

    episode_id: str
    status: Status
    steps: int | None
    error: str | None


class Turn(TypedDict):
    turn_id: str
    seq: int
    instruction: str
    start: Start
    start_number: int
    status: Status
    step_s: float
    max_steps: int
    created_at: str
    left: Side
    right: Side


class Model(TypedDict):
    model_id: str
    name: str


class Models(TypedDict):
    left: Model
    right: Model


class VoteCast(TypedDict):
    vote_id: str
    revealed_models: Models


class BattleSnapshot(TypedDict):
    """`left_model` and `right_model` are "???" before the vote."""

    battle_id: str
    session_id: str
    kind: str
    seq: int
    status: Literal["ongoing", "voted", "abandoned"]
    can_vote: bool
    can_send: bool
    turns: list[Turn]
    left_model: Any
    right_model: Any


class SentTurn(TypedDict):
    turn_id: str
    left_episode_id: str
    right_episode_id: str
    status: Status


class Event(TypedDict, total=False):
    """A message of a battle's socket. `seq` is missing from snapshots and frames."""

    type: str
    seq: int
    turn_id: str
    battle: Any
