"""The JSON of robots alone: the outcome of a side, its frames, and its recorded episode.

NotRequired must be seen by TypedDict itself, so annotations are not postponed here.
"""

from typing import Literal

from typing_extensions import TypedDict

from arena.shapes import SideName


class RolloutOutcome(TypedDict):
    """What physics says about a side. It is sent after the vote only."""

    success: bool | None
    progress: float | None
    termination_reason: str
    steps: int
    duration_ms: float | None
    start_hash: str


class RolloutFrames(TypedDict):
    """View rows (simulation.view_format) of both sides, equally many, packed and in base64.

    `from_row` is the number of the first one. Row 0 is the start. A side that ended earlier stays where it ended.
    """

    type: Literal["rollout.frames"]
    turn_id: str
    from_row: int
    left: str
    right: str


class EpisodeState(TypedDict):
    """`qvel` is empty before the vote."""

    time: float
    qpos: list[float]
    qvel: list[float]


class EpisodeJson(TypedDict):
    """After the vote (`exact`) the whole recording: `states` begins with the start, one entry more than `actions`.

    Before the vote `states` is what can be seen: positions rounded to 0.2 mm and 0.1 degrees, 25 times a second, to the
    end of the longer side. `actions` and every `qvel` are empty. `start_hash`, `outcome`, `secret` and `render_profile`
    are null.
    """

    episode_id: str
    turn_id: str
    side: SideName
    instruction: str
    robot_id: str
    scene_id: str
    actions: list[list[float]]
    states: list[EpisodeState]
    engine_version: str
    scene_hash: str
    start_hash: str | None
    outcome: RolloutOutcome | None
    exact: bool
    secret: str | None
    render_profile: str | None


class BattleStart(TypedDict):
    """What a battle begins with, before its first instruction: the first view row (simulation.view_format) of either
    side, packed and in base64, the same that `from_row` 0 of its first turn shows. Null until a worker has made it.

    `left_out`: the things of the scene that its seed left out; null while that is unknown.
    """

    battle_id: str
    start: str | None
    left_out: list[str] | None
