"""A voted battle can be shown to anybody who has its address; one without a vote to nobody."""

from __future__ import annotations

import json

import pytest

from tests.arena.conftest import Visitor, battle_row, play, play_battle
from tests.fakes import FakeRuntime


@pytest.fixture
def voted(visitor: Visitor, runtime: FakeRuntime) -> str:
    battle_id = play_battle(visitor)
    visitor.post("votes", {"battle_id": battle_id, "vote": "right_better"})
    return battle_id


def test_a_stranger_sees_names_vote_and_recordings_of_a_voted_battle(visitor: Visitor, voted: str) -> None:
    stranger = Visitor()
    seen = stranger.get(f"shared/{voted}")
    assert seen.status_code == 200
    shared, own = seen.json(), visitor.battle(voted)
    assert {name: shared[name] for name in ("left_model", "vote", "turns")} == {
        name: own[name] for name in ("left_model", "vote", "turns")
    }
    episode_id = shared["turns"][0]["left"]["episode_id"]
    for form in ("", "/view.bin", "/states.bin", "/replay.bin"):
        assert stranger.get(f"episodes/{episode_id}{form}").status_code == 200


def test_it_does_not_say_whose_it_is(voted: str) -> None:
    session = battle_row(voted).session
    seen = Visitor().get(f"shared/{voted}").content.decode()
    assert session.session_id not in seen
    assert str(session.user_id) not in seen


def test_a_battle_without_a_vote_is_shown_to_nobody(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    episode_id = visitor.battle(battle_id)["turns"][0]["left"]["episode_id"]
    for caller in (visitor, Visitor()):
        assert caller.get(f"shared/{battle_id}").status_code == 404
    assert Visitor().get(f"episodes/{episode_id}").status_code == 404
    visitor.post(f"sessions/{visitor.battle(battle_id)['session_id']}/battles")
    assert Visitor().get(f"shared/{battle_id}").status_code == 404, "abandoned is not voted"


def test_others_may_look_but_not_act(voted: str) -> None:
    stranger = Visitor()
    assert stranger.get(f"battles/{voted}").status_code == 404
    assert stranger.post(f"battles/{voted}/explorations", {}).status_code == 404
    assert stranger.post("votes", {"battle_id": voted, "vote": "tie"}).status_code == 404


def test_what_was_explored_afterwards_stays_the_voters_own(visitor: Visitor, voted: str) -> None:
    sent = visitor.post(f"battles/{voted}/explorations", {}).json()
    play(sent)
    shared = Visitor().get(f"shared/{voted}").json()
    assert len(shared["turns"]) == 1
    assert sent["turn_id"] not in json.dumps(shared)
    assert Visitor().get(f"episodes/{sent['left_episode_id']}").status_code == 404
    assert visitor.get(f"episodes/{sent['left_episode_id']}").status_code == 200
