"""Playing on after the vote: from a moment of a recording, with another seed or instruction. It counts for nothing."""

from __future__ import annotations

import uuid
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError

from arena.models import Turn, Vote
from arena.store import Document, get_store
from robots import forks
from simulation import catalogue
from simulation.episode_format import state_at
from tests.arena.conftest import Visitor, battle_row, play, play_battle
from tests.factories import PolicyFactory
from tests.fakes import FakeRuntime

SIDES = ("left", "right")


@pytest.fixture
def voted(visitor: Visitor, runtime: FakeRuntime) -> str:
    battle_id = play_battle(visitor)
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201
    return battle_id


def fork(visitor: Visitor, battle_id: str, **wish: Any) -> dict[str, Any]:
    sent = visitor.post(f"battles/{battle_id}/explorations", wish)
    assert sent.status_code == 202, sent.content
    play(sent.json())
    return dict(sent.json())


def document(episode_id: str) -> Document:
    found = get_store().get(episode_id)
    assert found is not None
    return found


def first_turn(visitor: Visitor, battle_id: str) -> dict[str, Any]:
    return dict(visitor.battle(battle_id)["turns"][0])


def test_both_sides_go_on_from_the_chosen_record_of_their_own_recording(visitor: Visitor, voted: str) -> None:
    origin = first_turn(visitor, voted)
    fork(visitor, voted, turn_id=origin["turn_id"], record=17, instruction="push the green sphere to the left")
    turn = visitor.battle(voted)["turns"][-1]
    changes = {"left_model_id": None, "right_model_id": None, "moved": {}}
    assert turn["exploration"] == {"turn_id": origin["turn_id"], "record": 17, "seed": battle_row(voted).seed} | changes
    assert turn["instruction"] == "push the green sphere to the left"
    for side in SIDES:
        before, after = document(origin[side]["episode_id"]), document(turn[side]["episode_id"])
        assert state_at(after, 0).hash("", "") == state_at(before, 17).hash("", "")
        assert after["exploration"]
        assert not before["exploration"]


def test_a_side_that_ended_earlier_goes_on_from_its_end(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    runtime.success_at["alpha"] = 9
    play(visitor.send(battle_id))
    runtime.success_at.clear()
    visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"})
    origin = first_turn(visitor, battle_id)
    short, long = sorted(SIDES, key=lambda side: origin[side]["steps"])
    assert origin[short]["steps"] < 30 <= origin[long]["steps"]
    fork(visitor, battle_id, turn_id=origin["turn_id"], record=30)
    turn = visitor.battle(battle_id)["turns"][-1]
    starts = {side: document(turn[side]["episode_id"])["states"][0] for side in SIDES}
    assert starts[short] == document(origin[short]["episode_id"])["states"][-1]
    assert starts[long] == document(origin[long]["episode_id"])["states"][30]


def test_without_a_moment_a_new_seed_makes_one_new_start_for_both(visitor: Visitor, voted: str) -> None:
    origin = first_turn(visitor, voted)
    fork(visitor, voted, seed=4242, turn_id=None, instruction=None)
    turn = visitor.battle(voted)["turns"][-1]
    changes = {"left_model_id": None, "right_model_id": None, "moved": {}}
    assert turn["exploration"] == {"turn_id": None, "record": None, "seed": 4242} | changes
    assert turn["instruction"] == origin["instruction"]
    hashes = {turn[side]["outcome"]["start_hash"] for side in SIDES}
    assert len(hashes) == 1
    assert hashes != {origin["left"]["outcome"]["start_hash"]}


def test_chance_draws_the_seed_where_none_is_given(visitor: Visitor, voted: str) -> None:
    for _ in range(2):
        fork(visitor, voted)
    first, second = (turn["exploration"]["seed"] for turn in visitor.battle(voted)["turns"][1:])
    assert first != second


def test_it_can_start_in_a_fork(visitor: Visitor, voted: str) -> None:
    sent = fork(visitor, voted)
    fork(visitor, voted, turn_id=sent["turn_id"], record=3)
    assert visitor.battle(voted)["turns"][-1]["exploration"]["turn_id"] == sent["turn_id"]


def test_it_leaves_vote_and_judged_turns_as_they_were(visitor: Visitor, voted: str) -> None:
    before = visitor.battle(voted)["vote"]
    fork(visitor, voted)
    battle = visitor.battle(voted)
    assert (battle["vote"], battle["status"], battle["can_vote"]) == (before, "voted", False)
    assert Vote.objects.count() == 1
    assert [turn.seq for turn in Turn.objects.judged()] == [1]
    refused = visitor.post("votes", {"battle_id": voted, "vote": "left_better"})
    assert (refused.status_code, refused.json()["code"]) == (409, "already_voted")


def test_before_the_vote_nothing_can_be_forked(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    assert not visitor.battle(battle_id)["can_explore"]
    refused = visitor.post(f"battles/{battle_id}/explorations", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_voted")


def test_one_thing_at_a_time(visitor: Visitor, voted: str) -> None:
    assert visitor.battle(voted)["can_explore"]
    sent = visitor.post(f"battles/{voted}/explorations", {})
    assert not visitor.battle(voted)["can_explore"]
    refused = visitor.post(f"battles/{voted}/explorations", {})
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_running")
    play(sent.json())
    assert visitor.battle(voted)["can_explore"]


def test_nobody_forks_the_battle_of_somebody_else(visitor: Visitor, voted: str) -> None:
    assert Visitor().post(f"battles/{voted}/explorations", {}).status_code == 404


@pytest.mark.parametrize("record", [-1, 51, 10**9, "soon", None])
def test_a_record_that_is_not_there_is_refused(visitor: Visitor, voted: str, record: Any) -> None:
    wish = {"turn_id": first_turn(visitor, voted)["turn_id"], "record": record}
    assert visitor.post(f"battles/{voted}/explorations", wish).status_code == 422
    assert len(visitor.battle(voted)["turns"]) == 1


@pytest.mark.parametrize("wish", [{"seed": -1}, {"seed": 2**31}, {"seed": "x"}, {"instruction": ""}])
def test_a_wish_that_makes_no_sense_is_refused(visitor: Visitor, voted: str, wish: dict[str, Any]) -> None:
    assert visitor.post(f"battles/{voted}/explorations", wish).status_code == 422


def test_a_turn_of_another_battle_is_no_place_to_start(visitor: Visitor, voted: str, runtime: FakeRuntime) -> None:
    other = play_battle(visitor)
    elsewhere = first_turn(visitor, other)["turn_id"]
    refused = visitor.post(f"battles/{voted}/explorations", {"turn_id": elsewhere})
    assert (refused.status_code, refused.json()["code"]) == (422, "no_such_moment")
    unknown = visitor.post(f"battles/{voted}/explorations", {"turn_id": f"turn_{uuid.uuid4().hex}"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "no_such_moment")


def test_the_table_keeps_a_judged_turn_from_saying_where_it_starts(visitor: Visitor, voted: str) -> None:
    with pytest.raises(IntegrityError):
        Turn.objects.update(is_fork=False, fork_seed=3)


def test_another_policy_plays_in_place_of_a_side(visitor: Visitor, voted: str) -> None:
    PolicyFactory(id="gamma")
    origin = first_turn(visitor, voted)
    fork(visitor, voted, turn_id=origin["turn_id"], record=4, right_model_id="gamma")
    turn = visitor.battle(voted)["turns"][-1]
    assert (turn["exploration"]["left_model_id"], turn["exploration"]["right_model_id"]) == (None, "gamma")
    assert document(turn["right"]["episode_id"])["model_id"] == "gamma"
    assert document(turn["left"]["episode_id"])["model_id"] == battle_row(voted).left_model_id
    assert battle_row(voted).right_model_id != "gamma"


def test_a_policy_or_a_thing_that_is_not_there_is_refused_with_those_that_are(visitor: Visitor, voted: str) -> None:
    PolicyFactory(id="gone", status="retired")
    for wish, code in (({"left_model_id": "gone"}, "unknown_model"), ({"moved": {"moon": [0.2, 0]}}, "unknown_thing")):
        refused = visitor.post(f"battles/{voted}/explorations", wish)
        assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert set(refused.json()["known"]) == {"red_cube", "yellow_cube", "blue_cylinder", "green_sphere"}
    assert len(visitor.battle(voted)["turns"]) == 1


def test_a_thing_that_the_seed_left_out_cannot_be_moved_there(
    visitor: Visitor, voted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks.first_states, "left_out", lambda battle: ["red_cube"])
    drawn = replace(catalogue.scene("table"), draws=True)
    monkeypatch.setattr(forks.catalogue, "scene", lambda scene_id: drawn)
    turn_id = visitor.battle(voted)["turns"][0]["turn_id"]
    wish = {"turn_id": turn_id, "moved": {"red_cube": [0.2, 0]}}
    refused = visitor.post(f"battles/{voted}/explorations", wish)
    assert (refused.status_code, refused.json()["code"]) == (422, "unknown_thing")
    assert "red_cube" not in refused.json()["known"]
    tree = visitor.get(f"battles/{voted}/explorations").json()
    assert "red_cube" not in tree["movable"]
    assert {model["model_id"] for model in tree["models"]} == {"alpha", "beta"}
    elsewhere = {"seed": battle_row(voted).seed + 1, "moved": {"red_cube": [0.2, 0]}}
    assert visitor.post(f"battles/{voted}/explorations", elsewhere).status_code == 202, "another seed may have it"


@pytest.mark.parametrize("place", [[0.2], [0.2, 0, 0, 0], [9, 0], [0.2, 0.4], ["x", 0], "there", None, [0.3, 0, 99]])
def test_a_place_off_the_table_is_refused(visitor: Visitor, voted: str, place: Any) -> None:
    refused = visitor.post(f"battles/{voted}/explorations", {"moved": {"red_cube": place}})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid")


def test_forks_form_a_tree_that_their_visitor_alone_reads(visitor: Visitor, voted: str) -> None:
    origin = first_turn(visitor, voted)["turn_id"]
    first = fork(visitor, voted, turn_id=origin, record=3)["turn_id"]
    second = fork(visitor, voted, turn_id=first, record=2, instruction="wave")["turn_id"]
    apart = fork(visitor, voted, seed=9)["turn_id"]
    third = fork(visitor, voted, turn_id=origin, record=1)["turn_id"]
    tree = visitor.get(f"battles/{voted}/explorations").json()["turns"]
    assert [(each["turn_id"], each["parent"], each["depth"]) for each in tree] == [
        (origin, None, 0),
        (first, origin, 1),
        (second, first, 2),
        (third, origin, 1),
        (apart, None, 0),
    ]
    page = visitor.client.get(f"/battle/{voted}/forks").content.decode()
    assert [page.index(f'data-turn="{each["turn_id"]}"') for each in tree] == sorted(
        page.index(f'data-turn="{each["turn_id"]}"') for each in tree
    )
    assert "From step 2 of turn 2" in page
    assert Visitor().get(f"battles/{voted}/explorations").status_code == 404
    assert Visitor().client.get(f"/battle/{voted}/forks").status_code == 404


def test_before_the_vote_there_is_no_tree(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    assert visitor.get(f"battles/{battle_id}/explorations").json()["code"] == "not_voted"
    assert visitor.client.get(f"/battle/{battle_id}/forks").status_code == 404
