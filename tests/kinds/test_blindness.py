"""Whatever kind plays, nothing that is told before the vote differs by which contestant is on which side.

What is seen of a battle must be the mirror image of what is seen when its contestants have changed sides, byte for
byte, apart from random ids and the time of day (decisions: blindness, release-clock).
"""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connection

from arena import kinds
from arena.models import Battle, Contestant
from tests.arena.conftest import Visitor
from tests.arena.sockets import Socket
from tests.arena.test_blindness import MIRRORED, anonymous
from tests.kinds.conftest import SIDES, House

Json = dict[str, Any]
WORDS = "stack the red cube"


@pytest.fixture(autouse=True)
def _shipped(default_clock: None, settings: Any) -> None:
    settings.ROLLOUT_MAX_STEPS = 20


@dataclass
class Seen:
    """What a visitor saw of a battle: all that is said of it, and what each side showed."""

    said: list[str] = field(default_factory=list)
    shown: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(SIDES, b""))
    recorded: dict[str, Json] = field(default_factory=dict)

    def note_frames(self, message: Json) -> None:
        for side in SIDES:
            chunks = message[side]
            text = "|".join(["", *chunks]).encode() if isinstance(chunks, list) else base64.b64decode(chunks)
            self.shown[side] += text


async def watched(house: House, left: Contestant, right: Contestant) -> Seen:
    """A turn on its socket, then every answer and page about its battle."""
    apart, seen, visitor = sync_to_async(thread_sensitive=False), Seen(), Visitor()
    battle_id = await sync_to_async(house.open)(visitor, left, right)
    async with Socket(visitor, battle_id) as socket:
        seen.said.append(json.dumps(await socket.next()))
        turn = await sync_to_async(visitor.send)(battle_id, WORDS)
        playing = asyncio.create_task(apart(played)(house, turn))
        while '"turn.finished"' not in seen.said[-1]:
            message = await socket.next(timeout=40)
            if message["type"] == "rollout.frames":
                seen.note_frames(message)
            else:
                seen.said.append(json.dumps(message))
        await playing
    await sync_to_async(look)(house, visitor, seen, battle_id, turn)
    return seen


def played(house: House, turn: Json) -> None:
    house.play(turn)
    connection.close()


def look(house: House, visitor: Visitor, seen: Seen, battle_id: str, turn: Json) -> None:
    session_id = Battle.objects.get(battle_id=battle_id).session_id
    addresses = [f"battles/{battle_id}", f"battles/session/{session_id}", f"sessions/{session_id}", "sessions/?mine"]
    visitor.get(f"battles/{battle_id}/start")
    for kind in kinds.every():
        kind.tend()
    addresses += [f"battles/{battle_id}/start"]
    addresses += [f"turns/{turn['turn_id']}", f"turns/{turn['turn_id']}/queue", f"shared/{battle_id}"]
    answers = [visitor.get(address) for address in addresses]
    answers.append(visitor.client.get(f"/{house.kind.address}/{battle_id}"))
    for answer in answers:
        seen.said.append(f"{answer.status_code} {len(answer.content)} {answer.content.decode()}")
    for side in SIDES:
        seen.recorded[side] = visitor.get(f"episodes/{turn[f'{side}_episode_id']}").json()


def without_ids(recorded: Json) -> Json:
    return {name: value for name, value in recorded.items() if name not in ("episode_id", "turn_id", "side")}


async def test_all_that_is_told_is_mirrored_when_the_contestants_change_sides(house: House) -> None:
    one, other = house.pair
    straight, mirrored = await asyncio.gather(watched(house, one, other), watched(house, other, one))
    assert anonymous(straight.said) == anonymous(mirrored.said)
    assert straight.shown["left"] != straight.shown["right"], "the sides do the same, so nothing was tested"
    for side in SIDES:
        assert straight.shown[side] == mirrored.shown[MIRRORED[side]]
        assert without_ids(straight.recorded[side]) == without_ids(mirrored.recorded[MIRRORED[side]])
    told = " ".join([*straight.said, json.dumps(straight.recorded)])
    for contestant in house.pair:
        assert contestant.id not in told
        assert contestant.name not in told
    assert "duration" not in told
