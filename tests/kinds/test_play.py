"""A battle of every kind, from its first call to its page: the same calls, whatever contestants are."""

from __future__ import annotations

from asgiref.sync import sync_to_async

from arena.shapes import BattleJson, check
from tests.arena.conftest import Visitor
from tests.arena.sockets import Socket
from tests.kinds.conftest import SIDES, House

WORDS = "pick up the red cube"


def test_a_battle_is_opened_played_voted_on_and_told_with_its_names(house: House, visitor: Visitor) -> None:
    battle_id = house.open(visitor)
    turn = visitor.send(battle_id, WORDS)
    house.play(turn)
    seen = visitor.battle(battle_id)
    check({name: value for name, value in seen.items() if name not in house.kind.names}, BattleJson)
    assert (seen["kind"], seen["can_vote"], seen["left_model"]) == (house.kind.id, True, "???")
    assert [seen["turns"][0][side]["status"] for side in SIDES] == ["completed"] * 2

    reasons = dict.fromkeys(list(house.kind.reasons)[:1], "left")
    voted = visitor.post("votes", {"battle_id": battle_id, "vote": "left_better", "reasons": reasons})
    assert voted.status_code == 201, voted.content
    names = voted.json()["revealed_models"]
    assert [names[side]["model_id"] for side in SIDES] == [contestant.id for contestant in house.pair]
    after = visitor.battle(battle_id)
    assert {name: said for name, said in after["vote"]["reasons"].items() if said} == reasons
    assert after["turns"][0]["left"]["outcome"]["steps"] > 0
    assert after["can_explore"] is house.kind.forks
    shared = Visitor().get(f"shared/{battle_id}").json()
    assert (shared["kind"], shared["turns"]) == (house.kind.id, after["turns"])


def test_its_recordings_and_pages_are_shown(house: House, visitor: Visitor) -> None:
    battle_id = house.open(visitor)
    turn = visitor.send(battle_id, WORDS)
    house.play(turn)
    for side in SIDES:
        recording = visitor.get(f"episodes/{turn[f'{side}_episode_id']}").json()
        assert (recording["exact"], recording["outcome"]) == (False, None)
    for page in (f"/{house.kind.address}", f"/{house.kind.address}/{battle_id}"):
        shown = visitor.client.get(page)
        assert shown.status_code == 200
        assert f'data-page="/{house.kind.address}"' in shown.content.decode()
        assert f'data-kind="{house.kind.id}"' in shown.content.decode()
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    assert Visitor().client.get(f"/b/{battle_id}").status_code == 200


def test_sessions_name_their_kind(house: House, visitor: Visitor) -> None:
    visitor.send(house.open(visitor), WORDS)
    [row] = visitor.get("sessions/?mine").json()["results"]
    place = house.kind.place_json(house.kind.choose({}))
    assert {"kind": house.kind.id, "title": WORDS, **place}.items() <= row.items()
    session = visitor.get(f"sessions/{row['session_id']}").json()
    assert {"kind": house.kind.id, **place}.items() <= session.items()


async def test_the_socket_shows_as_much_of_both_sides_and_ends_with_the_turn(house: House, visitor: Visitor) -> None:
    apart = sync_to_async(thread_sensitive=False)
    battle_id = await sync_to_async(house.open)(visitor)
    async with Socket(visitor, battle_id) as socket:
        assert (await socket.next())["battle"]["kind"] == house.kind.id
        turn = await sync_to_async(visitor.send)(battle_id, WORDS)
        await apart(house.play)(turn)
        told = await socket.until("turn.finished")
    frames = [message for message in told if message["type"] == "rollout.frames"]
    assert frames
    assert all(len(message["left"]) == len(message["right"]) > 0 for message in frames)
    assert told[-1]["status"] == "completed"
