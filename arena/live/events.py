"""Messages to browsers: what each looks like, and how it reaches the sockets of its battle. Told in docs/api.md.

Every event carries `seq`, which rises by one per battle. Applied in order to an older snapshot they give the newer one.
Live chunks are no events: they change nothing, and a browser that misses some sees the others.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime
from typing import Any, Literal

from channels.layers import get_channel_layer
from redis.exceptions import RedisError
from typing_extensions import TypedDict

from arena.live import played
from arena.live.courier import courier
from arena.shapes import AllowedActions, FailureReason, Revealed, SideName, StartJson, TurnJson, VoteJson, check

log = logging.getLogger(__name__)

TOLD_WITHIN_S = 2.0  # a layer that has gone silent must not hold up who plays or votes


class Event(TypedDict):
    type: str
    seq: int


class TurnOpened(Event):
    """A turn was added; or the one with this id starts again, and takes the place of what it was."""

    turn: TurnJson
    battle: AllowedActions


class RolloutStarted(Event):
    """Both sides have started: the turn's clock begins at `release_from`."""

    turn_id: str
    release_from: str


class RolloutFinished(Event):
    """`steps`: the longer side's before the vote, the side's own after it."""

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
    """An exploration comes whole (`turn`), with its outcomes: names are known by then. Else `turn` is null."""

    turn_id: str
    status: Literal["completed", "failed"]
    battle: AllowedActions
    turn: TurnJson | None


class BattleVoted(Event):
    """The names, the battle's secret; every turn again, now with its outcomes; and those of several starts."""

    vote: VoteJson
    left_model: Revealed
    right_model: Revealed
    secret: str | None
    turns: list[TurnJson]
    starts: list[StartJson] | None
    battle: AllowedActions


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
    "battle.abandoned": BattleAbandoned,
}


def build(event_type: str, seq: int, fields: dict[str, Any]) -> dict[str, Any]:
    """An event whose shape was checked; raises ShapeError for one that no browser would understand."""
    event = {"type": event_type, "seq": seq, **fields}
    check(event, EVENTS[event_type], event_type)
    return event


def group_of(battle_id: str) -> str:
    return f"battle.{battle_id}"


def frames(turn_id: str, told: dict[str, Any]) -> dict[str, Any]:
    """Chunks of both sides as they go to a browser; `told` is the kind's. A side that ended stays where it ended."""
    return {"type": "rollout.frames", "turn_id": turn_id, **told}


def publish(battle_id: str, event: dict[str, Any], at: datetime | None = None, instead: bool = False) -> None:
    """Tell every open socket of the battle. Nothing waits for it: who misses it sees a gap and asks for a snapshot.

    `at`: it ends a turn, and is told at this moment, after the turn's last chunk. `instead`: it takes the place of
    events with this number and later ones, which were not told yet.
    """
    moment = at.timestamp() if at else None
    _send(battle_id, {"type": "battle.event", "event": event, "at": moment, "instead": instead})


def pass_chunks(battle_id: str, turn_id: str, side: str, tries: int, first: int, chunks: list[bytes]) -> None:
    """Give what one side has played to the consumers, which hold it until the turn's clock says that it is shown.

    `chunks`: those from number `first` on; number 0 is the start.
    """
    played.keep_chunks(turn_id, side, tries, first, chunks)
    about = {"turn_id": turn_id, "side": side, "tries": tries}
    _send(battle_id, {"type": "side.chunks", **about, "first": first, "chunks": chunks})


def pass_end(battle_id: str, turn_id: str, side: str, tries: int, length: int) -> None:
    """Say to the consumers that a side has no more chunks, and up to which number it is shown all the same."""
    played.keep_end(turn_id, side, tries, length)
    _send(battle_id, {"type": "side.end", "turn_id": turn_id, "side": side, "tries": tries, "length": length})


def _send(battle_id: str, message: dict[str, Any]) -> None:
    try:
        courier.run(_send_in_time(group_of(battle_id), message))
    except (RedisError, OSError) as error:
        log.warning("The channel layer is down, so nobody was told about %s: %r", battle_id, error)


async def _send_in_time(group: str, message: dict[str, Any]) -> None:
    """Raises TimeoutError, an OSError, where the layer does not take it in time."""
    async with asyncio.timeout(TOLD_WITHIN_S):
        await get_channel_layer().group_send(group, message)
