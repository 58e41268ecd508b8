"""The JSON that the rankings tell, declared once."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class RankingRow(TypedDict):
    """`component`: policies with the same number can be compared, directly or through others; between components there
    is no order. 1 is the one with most votes; null without a vote. `rank` is within the component, and null for a
    provisional policy. `elo_weight`: how much it counts in the mean of its component, which is 1500; null without a
    vote and in publications of before. `robots`: those on which it has votes. `win_rate` is wins / votes to two places;
    `status` is the registry's.

    What a kind tells of its contestants (`arena.kinds.Kind.facts`) is there for that kind alone; of robots `success` is
    what the policy's card says of seeded rollouts judged by physics; null where it was not measured.
    """

    component: int | None
    rank: int | None
    model_id: str
    name: str
    elo_score: int
    elo_ci: float
    elo_low: float
    elo_high: float
    elo_weight: float | None
    elo_sequential: int
    vote_count: int
    win_count: int
    loss_count: int
    tie_count: int
    both_bad_count: int
    win_rate: float
    organization: str
    license: str
    family: str
    provenance: str
    training_data: NotRequired[str]
    parameters: NotRequired[int | None]
    revision: str
    success: NotRequired[dict[str, float] | None]
    status: str
    robots: list[str]


class RobotShare(TypedDict):
    """How much a robot weighs in ratings over several; all shares together are 1."""

    robot_id: str
    share: float


class Component(TypedDict):
    """Policies that votes connect: how many, and with how many votes. Their ratings are the mean of what they can do on
    each of `robots`."""

    component: int
    models: int
    votes: int
    robots: list[RobotShare]


class LeaderboardMetadata(TypedDict):
    """`kind` is that of the arena. `board` is "global", a robot, a scene, or "robot/scene". Counts are the board's,
    before any filter."""

    kind: str
    board: str
    total_models: int
    total_votes: int
    last_updated: str | None
    minimum_votes: int
    components: list[Component]
    robots: list[str]
    scenes: list[str]
    organizations: list[str]
    families: list[str]


class Leaderboard(TypedDict):
    rankings: list[RankingRow]
    provisional: list[RankingRow]
    metadata: LeaderboardMetadata


class LeaderboardStatistics(TypedDict):
    """Over the votes in a kind's boards. `left_win_share`: of the votes with a winner; null without one."""

    total_models: int
    total_votes: int
    total_voters: int
    total_battles: int
    total_sessions: int
    votes_by_outcome: dict[str, int]
    votes_by_robot: dict[str, int]
    left_win_share: float | None
    last_updated: str | None


class WorkerState(TypedDict):
    """`votes_processed` counts the last run. The wording of an error is for operators; others read null."""

    worker_name: str
    status: str
    last_run_at: str | None
    votes_processed: int
    pending_votes: int
    failed_votes: int
    error_message: str | None


class Aggregated(TypedDict):
    status: Literal["ok"]
    votes_processed: int
    votes_failed: int
    rows_changed: int


class NotDue(TypedDict):
    """Why nothing was published; `next_at` is when it will be."""

    code: Literal["published_already"]
    detail: str
    next_at: str
