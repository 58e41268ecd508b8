"""The JSON of the rankings' calls, declared once."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict


class RankingRow(TypedDict):
    """One contestant on a board.

    `component`: contestants with the same number can be compared, directly or through others; components have no order
    among each other. 1 is the one with most votes; null without a vote. `rank` is within the component, and null below
    `minimum_votes`; `rank_low` and `rank_high` are the best and the worst rank that the votes leave open.
    `provisional`: the thresholds `provisional_until` are not all met, so the rating may still move. `flags` say what
    else is uncertain: `few_votes`; `no_upper_bound` (a comparable contestant never scored against it), so `elo_high` is
    a guess; `no_lower_bound` (it never scored), so `elo_low` is one. `elo_weight`: its weight in the mean of its
    component, which is 1500; null without a vote. `robots`: the settings in which it has votes. `win_rate` is wins /
    votes to two places; `status` is the registry's.

    The facts of a kind (`arena.kinds.Kind.facts`) are there for that kind alone; for robots `success` is the success
    rate of seeded rollouts on the policy's card, null where it was not measured.
    """

    component: int | None
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    provisional: bool
    flags: list[str]
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
    """The weight of a setting in ratings over several of them; all shares add up to 1."""

    robot_id: str
    share: float


class Component(TypedDict):
    """Contestants that votes connect: how many `models`, with how many `votes`. Their ratings are means over `robots`,
    the settings."""

    component: int
    models: int
    votes: int
    robots: list[RobotShare]


class ProvisionalUntil(TypedDict):
    """A rating is provisional until its 95 % interval is narrower than ± `half_width` points and it rests on so many
    `votes`, against so many `opponents` (all others on a board with fewer)."""

    half_width: float
    votes: int
    opponents: int


class SideTerm(TypedDict):
    """The advantage of the left side in points, with its 95 % interval. It enters no rating."""

    elo: float
    low: float
    high: float


class LeaderboardMetadata(TypedDict):
    """The board is that of `kind`, `setting`, `scene`, `task` and `division`, where "" stands for all; `board` joins
    the last four with slashes, or is "global". `robots`, `scenes`, `tasks` and `divisions` list what can be chosen; a
    division is, of voice, an architecture, and most kinds have none. Counts are the board's, before any filter.
    `side_advantage` is null without a vote."""

    kind: str
    board: str
    setting: str
    scene: str
    task: str
    division: str
    total_models: int
    total_votes: int
    last_updated: str | None
    minimum_votes: int
    provisional_until: ProvisionalUntil
    side_advantage: SideTerm | None
    components: list[Component]
    robots: list[str]
    scenes: list[str]
    tasks: list[str]
    divisions: list[str]
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
