"""What an arena answers, as far as this client reads it. `/api/docs/` of an arena describes all of it."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

Choice = Literal["left_better", "right_better", "tie", "both_bad"]
Status = Literal["queued", "running", "completed", "failed"]
Start = Literal["continue", "reset"]
Comparison = Literal["left", "right", "equal"]
StudyState = Literal["waiting", "playing", "completed", "failed", "cancelled"]


class RobotsPlace(TypedDict, total=False):
    """Of battles of robots alone."""

    robot_id: str
    scene_id: str


class OpenedBattle(RobotsPlace):
    session_id: str
    battle_id: str
    kind: str
    left_model: Literal["???"]
    right_model: Literal["???"]


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


class Study(TypedDict):
    """`pairs`: played by both, of `planned` at most. `told`: what they say, empty before the end, as `manage.py compare
    --json` tells it. `report_url` is None while there is no report. `error`: why it failed."""

    study_id: str
    state: StudyState
    a: str
    b: str
    robot_id: str
    scene_id: str
    tasks: list[str]
    seeds: int
    first_seed: int
    margin: float
    play_all: bool
    pairs: int
    planned: int
    waiting_before: int
    error: str
    told: dict[str, Any]
    url: str
    report_url: str | None
