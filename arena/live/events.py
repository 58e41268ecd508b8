"""Messages to browsers: their shapes (docs/api.md), and sending them to the sockets of a battle.

Every event has a `seq`, which rises by one per battle. An older snapshot with the events since, applied in order, is
the newer snapshot. Live chunks are not events: a browser that misses some shows the others.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from channels.layers import get_channel_layer
from redis.exceptions import RedisError
from typing_extensions import TypedDict

from arena.live import chunk_feed
from arena.live.chunk_cache import Passed
from arena.live.loop_thread import loop_thread
from arena.shapes import AllowedActions, FailureReason, Introduced, SideName, StartJson, TurnJson, VoteJson, check

log = logging.getLogger(__name__)

SEND_TIMEOUT_S = 2.0  # a silent channel layer must not hold up workers and votes


class Event(TypedDict):
    type: str
    seq: int


class TurnOpened(Event):
    """A turn was added, or the turn with this id starts again and is replaced by this one."""

    turn: TurnJson
    battle: AllowedActions


class RolloutStarted(Event):
    """Both sides have started. The turn's clock starts at `release_from`."""

    turn_id: str
    release_from: str


class RolloutFinished(Event):
    """`steps` are the longer side's before the vote, and the side's own after it."""

    turn_id: str
    side: SideName
    episode_id: str
    steps: int
    url: str


class RolloutFailed(Event):
    """Before the vote both sides of a turn have failed alike, and `steps` is null."""

    turn_id: str
    side: SideName
    steps: int | None
    reason: FailureReason


class TurnFinished(Event):
    """`turn` is a fork with its outcomes, since the names are known by then. It is null for other turns."""

    turn_id: str
    status: Literal["completed", "failed"]
    battle: AllowedActions
    turn: TurnJson | None


class BattleVoted(Event):
    """The names, the battle's secret, all turns with their outcomes, and the results of several starts."""

    vote: VoteJson
    left_model: Introduced
    right_model: Introduced
    secret: str | None
    turns: list[TurnJson]
    starts: list[StartJson] | None
    battle: AllowedActions


class BattleEvaluated(Event):
    """More is known of a voted battle than its vote told: the turns with their outcomes as they are now."""

    turns: list[TurnJson]


class BattleAbandoned(Event):
    """The session went on to its next battle."""

    battle: AllowedActions


EVENTS: dict[str, Any] = {
    "turn.opened": TurnOpened,
    "rollout.started": RolloutStarted,
    "rollout.finished": RolloutFinished,
    "rollout.failed": RolloutFailed,
    "turn.finished": TurnFinished,
    "battle.voted": BattleVoted,
    "battle.evaluated": BattleEvaluated,
    "battle.abandoned": BattleAbandoned,
}


def build(event_type: str, seq: int, fields: dict[str, Any]) -> dict[str, Any]:
    """An event. Raises ShapeError if it has not the declared shape."""
    event = {"type": event_type, "seq": seq, **fields}
    check(event, EVENTS[event_type], event_type)
    return event


def group_of(battle_id: str) -> str:
    return f"battle.{battle_id}"


def frames(turn_id: str, of_kind: dict[str, Any]) -> dict[str, Any]:
    """The message with chunks of both sides. `of_kind`: what `Kind.frames` returned."""
    return {"type": "rollout.frames", "turn_id": turn_id, **of_kind}


def publish(battle_id: str, event: dict[str, Any], at: datetime | None = None, instead: bool = False) -> None:
    """Send an event to every open socket of the battle. A browser that misses it sees a gap and asks for a snapshot.

    `at`: the event ends a turn, and sockets pass it on at this moment, after the turn's last chunk. `instead`: it
    replaces events with this number and later ones, which no browser has got yet.
    """
    moment = at.timestamp() if at else None
    _send(battle_id, {"type": "battle.event", "event": event, "at": moment, "instead": instead})


def pass_chunks(passed: Sequence[Passed]) -> None:
    """Send chunks to the sockets, which buffer them until their turns' clocks show them, and tell them of sides that
    have no more."""
    chunk_feed.send(passed)


def _send(battle_id: str, message: dict[str, Any]) -> None:
    send_to_group(group_of(battle_id), message)


def send_to_group(group: str, message: dict[str, Any]) -> bool:
    """Send a message to all sockets of a group, from synchronous code. Whether the channel layer took it."""
    try:
        loop_thread.run(_send_in_time(group, message))
    except (RedisError, OSError) as error:
        log.warning("The channel layer is down: the sockets of %s got no message: %r", group, error)
        return False
    return True


async def _send_in_time(group: str, message: dict[str, Any]) -> None:
    """Raises TimeoutError, which is an OSError, if the layer does not accept the message in time."""
    async with asyncio.timeout(SEND_TIMEOUT_S):
        await get_channel_layer().group_send(group, message)
