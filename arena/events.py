"""Messages to browsers: what each looks like, and how it reaches the sockets of its battle. Told in docs/api.md.

Every event carries `seq`, which rises by one per battle. Applied in order to an older snapshot they give the newer one.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Literal, TypedDict

from channels.layers import get_channel_layer
from redis.exceptions import RedisError

from arena.courier import courier
from arena.shapes import Doors, FailureReason, Revealed, SideName, TurnJson, VoteJson, check

log = logging.getLogger(__name__)

TOLD_WITHIN_S = 2.0  # a layer that has gone silent must not hold up who plays or votes


class Event(TypedDict):
    type: str
    seq: int


class TurnOpened(Event):
    """A turn was added; or the one with this id starts again, and takes the place of what it was."""

    turn: TurnJson
    battle: Doors


class RolloutStarted(Event):
    """Both sides have started."""

    turn_id: str


class RolloutFrames(Event):
    """Steps `from_step` to `to_step`, both included, may be shown; step 0 is the start.

    On the way to a browser a consumer adds `left` and `right`: `{"steps": [[time, ...qpos], ...]}`.
    """

    turn_id: str
    from_step: int
    to_step: int


class RolloutFinished(Event):
    turn_id: str
    side: SideName
    episode_id: str
    steps: int
    url: str


class RolloutFailed(Event):
    turn_id: str
    side: SideName
    steps: int
    reason: FailureReason


class TurnFinished(Event):
    """An exploration comes whole (`turn`), with its outcomes: names are known by then. Else `turn` is null."""

    turn_id: str
    status: Literal["completed", "failed"]
    battle: Doors
    turn: TurnJson | None


class BattleVoted(Event):
    """The names, the battle's secret; and every turn again, now with its outcomes."""

    vote: VoteJson
    left_model: Revealed
    right_model: Revealed
    secret: str | None
    turns: list[TurnJson]
    battle: Doors


class BattleAbandoned(Event):
    """The session went on to its next battle."""

    battle: Doors


EVENTS: dict[str, Any] = {
    "turn.opened": TurnOpened,
    "rollout.started": RolloutStarted,
    "rollout.frames": RolloutFrames,
    "rollout.finished": RolloutFinished,
    "rollout.failed": RolloutFailed,
    "turn.finished": TurnFinished,
    "battle.voted": BattleVoted,
    "battle.abandoned": BattleAbandoned,
}


def build(event_type: str, seq: int, fields: dict[str, Any]) -> dict[str, Any]:
    """An event whose shape was checked; raises ShapeError for one that no browser would understand."""
    event = {"type": event_type, "seq": seq, **fields}
    check(event, EVENTS[event_type], event_type)
    return event


def group_of(battle_id: str) -> str:
    return f"battle.{battle_id}"


def publish(battle_id: str, event: dict[str, Any]) -> None:
    """Tell every open socket of the battle. Nothing waits for it: who misses it sees a gap and asks for a snapshot."""
    _send(battle_id, {"type": "battle.event", "event": event})


def pass_frames(battle_id: str, turn_id: str, side: str, from_step: int, steps: list[list[float]]) -> None:
    """Give one side's recorded steps to the consumers, which hold them until both sides may be shown.

    `steps`: one row `[time, ...qpos]` per step, the first of them for step `from_step`.
    """
    message = {"type": "side.frames", "turn_id": turn_id, "side": side, "from_step": from_step, "steps": steps}
    _send(battle_id, message)


def _send(battle_id: str, message: dict[str, Any]) -> None:
    try:
        courier.run(_send_in_time(group_of(battle_id), message))
    except (RedisError, OSError) as error:
        log.warning("The channel layer is down, so nobody was told about %s: %r", battle_id, error)


async def _send_in_time(group: str, message: dict[str, Any]) -> None:
    """Raises TimeoutError, an OSError, where the layer does not take it in time."""
    async with asyncio.timeout(TOLD_WITHIN_S):
        await get_channel_layer().group_send(group, message)
