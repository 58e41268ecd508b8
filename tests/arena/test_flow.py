"""A battle from opening the page to the names: V-FL-01..07 and the calls V-API-01..05."""

from __future__ import annotations

from arena.models import Vote
from tests.arena.conftest import Visitor, battle_row, play, play_battle
from tests.fakes import FakeRuntime


def test_opening_a_session_hides_two_different_contestants(visitor: Visitor) -> None:
    opened = visitor.post("sessions/init", {"robot_id": "widowx", "scene_id": "table"})
    assert opened.status_code == 201
    body = opened.json()
    assert (body["left_model"], body["right_model"]) == ("???", "???")
    assert body["session_id"].startswith("sess_")
    assert body["battle_id"].startswith("battle_")
    battle = battle_row(body["battle_id"])
    assert {battle.left_model_id, battle.right_model_id} == {"alpha", "beta"}


def test_an_instruction_is_played_by_both_sides_voted_on_and_the_names_revealed(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    sent = visitor.post(f"battles/{battle_id}/turns", {"instruction": "Pick up the red cube"})
    assert sent.status_code == 202
    assert sent.json()["status"] == "running"
    play(sent.json())

    turn = visitor.get(f"turns/{sent.json()['turn_id']}").json()
    assert turn["status"] == "completed"
    assert turn["left"]["steps"] == turn["right"]["steps"] == 50
    episode = visitor.get(f"episodes/{sent.json()['left_episode_id']}").json()
    assert len(episode["states"]) == 5 * 50 + 1, "what can be seen, 25 times a second"
    assert (episode["actions"], episode["outcome"]) == ([], None)

    vote = visitor.post("votes", {"battle_id": battle_id, "vote": "left_better"})
    assert vote.status_code == 201
    battle = battle_row(battle_id)
    revealed = vote.json()["revealed_models"]
    assert revealed["left"]["model_id"] == battle.left_model_id
    assert revealed["right"]["model_id"] == battle.right_model_id
    assert Vote.objects.get().vote == "left_better"
    after = visitor.battle(battle_id)
    assert after["status"] == "voted"
    assert after["left_model"]["name"] == battle.left_model.name
    assert after["turns"][0]["left"]["outcome"]["termination_reason"] == "step_limit"
    exact = visitor.get(f"episodes/{sent.json()['left_episode_id']}").json()
    assert len(exact["states"]) == len(exact["actions"]) + 1 == 51


def test_after_the_vote_the_next_instruction_needs_the_sessions_next_battle(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = play_battle(visitor)
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "stack the red cube on the yellow cube"})
    assert (refused.status_code, refused.json()["code"]) == (409, "battle_closed")

    session_id = visitor.battle(battle_id)["session_id"]
    opened = visitor.post(f"sessions/{session_id}/battles")
    assert opened.status_code == 201
    assert opened.json()["session_id"] == session_id
    assert opened.json()["left_model"] == "???"
    play(visitor.send(opened.json()["battle_id"], "stack the red cube on the yellow cube"))
    session = visitor.get(f"sessions/{session_id}").json()
    assert [battle["status"] for battle in session["battles"]] == ["voted", "ongoing"]
    assert [battle["title"] for battle in session["battles"]] == [
        "pick up the red cube",
        "stack the red cube on the yellow cube",
    ]
    assert session["title"] == "pick up the red cube"


def test_opening_the_next_battle_abandons_one_without_a_vote(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    visitor.post("battles", {"session_id": visitor.battle(battle_id)["session_id"]})
    left_behind = visitor.battle(battle_id)
    assert left_behind["status"] == "abandoned"
    assert left_behind["left_model"] == "???"
    for call, body in (
        ("votes", {"battle_id": battle_id, "vote": "tie"}),
        (f"battles/{battle_id}/turns", {"instruction": "wave"}),
    ):
        refused = visitor.post(call, body)
        assert (refused.status_code, refused.json()["code"]) == (409, "battle_closed")
