"""Turns: where they start, when another may be sent, and waiting for one (decision: battles)."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from django.db import connection

from arena.api import turns
from arena.models import Attempt, Turn
from arena.store import get_store
from robots import play as episodes
from simulation.contracts import PolicyFailure
from simulation.episode_format import to_float32, to_float64
from tests.arena.conftest import Visitor, battle_row, cast, play, play_battle, side_of
from tests.fakes import NQ, FakePolicy, FakeRuntime
from tests.replay_bin import rows_of_replay
from tests.states_bin import from_float32

FAILED_ALIKE = {"status": "failed", "steps": None, "error": "turn_failed"}


def states(turn: dict[str, Any], side: str) -> list[dict[str, Any]]:
    document = get_store().get(turn[f"{side}_episode_id"])
    assert document is not None
    return list(document["states"])


def test_both_sides_of_the_first_turn_start_from_one_state_made_from_the_seed(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    play(turn)
    left, right = states(turn, "left")[0], states(turn, "right")[0]
    assert left == right
    assert left["qpos"] == runtime.environment("", "").reset(battle_row(battle_id).seed).qpos.tolist()
    hashes = {side_of(battle_id, side).rollout.start_hash for side in ("left", "right")}
    assert len(hashes) == 1
    assert len(hashes.pop()) == 64


def test_a_follow_up_starts_on_each_side_where_that_side_ended(visitor: Visitor, runtime: FakeRuntime) -> None:
    runtime.policies = {"alpha": FakePolicy(stride=0.01), "beta": FakePolicy(stride=-0.02)}
    battle_id = visitor.open()
    first = visitor.send(battle_id)
    play(first)
    second = visitor.send(battle_id, "put the red cube on the left plate")
    play(second)
    for side in ("left", "right"):
        assert states(second, side)[0] == states(first, side)[-1]
    assert states(second, "left")[0] != states(second, "right")[0]
    assert side_of(battle_id, "left").rollout.start_hash != side_of(battle_id, "right").rollout.start_hash


def test_reset_asks_for_the_first_state_again(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    first = visitor.send(battle_id)
    play(first)
    again = visitor.send(battle_id, start="reset")
    play(again)
    third = visitor.send(battle_id)
    play(third)
    for side in ("left", "right"):
        assert states(again, side)[0] == states(first, side)[0]
        assert states(third, side)[0] == states(again, side)[-1]


def test_a_turn_that_one_side_failed_can_be_sent_again_and_starts_as_if_it_had_not_been(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    first = visitor.send(battle_id)
    play(first)
    loser = battle_row(battle_id).right_model_id
    runtime.policies = {loser: FakePolicy(raises=RuntimeError("out of memory"))}
    failed = visitor.send(battle_id)
    play(failed)
    assert visitor.get(f"turns/{failed['turn_id']}").json()["status"] == "failed"
    runtime.policies = {}
    again = visitor.send(battle_id)
    play(again)
    assert visitor.get(f"turns/{again['turn_id']}").json()["status"] == "completed"
    for side in ("left", "right"):
        assert states(again, side)[0] == states(first, side)[-1]


def test_a_turn_while_one_runs_is_refused(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    for _ in range(2):
        refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"})
        assert (refused.status_code, refused.json()["code"]) == (409, "turn_running")
        assert not visitor.battle(battle_id)["can_send"]
        episodes.play(turn["left_episode_id"])
    episodes.play(turn["right_episode_id"])
    assert visitor.battle(battle_id)["can_send"]
    visitor.send(battle_id, "wave")


def test_what_is_refused_uses_up_no_number_so_that_browsers_see_no_gap(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    before = visitor.battle(battle_id)["seq"]
    assert visitor.post(f"battles/{battle_id}/turns", {"instruction": "pick up the red cube"}).status_code == 409
    assert visitor.post(f"battles/{battle_id}/explorations", {"seed": 1}).status_code == 409
    assert visitor.battle(battle_id)["seq"] == before == 1
    play(turn)
    assert visitor.battle(battle_id)["can_vote"]


def test_of_many_turns_sent_at_once_one_is_taken(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    answers: list[int] = []

    def send() -> None:
        answers.append(visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"}).status_code)
        connection.close()

    everybody = [threading.Thread(target=send) for _ in range(5)]
    for each in everybody:
        each.start()
    for each in everybody:
        each.join()
    assert sorted(answers) == [202, 409, 409, 409, 409]
    assert (Turn.objects.count(), Attempt.objects.count()) == (1, 2)


def test_votes_wait_for_a_turn_that_both_sides_completed(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()

    def refusal() -> str:
        refused = visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
        assert refused.status_code == 409
        code: str = refused.json()["code"]
        assert visitor.battle(battle_id)["vote_blocked_because"] == code
        return code

    assert refusal() == "no_completed_turn"
    runtime.policies = {battle_row(battle_id).left_model_id: FakePolicy(raises=PolicyFailure("no"))}
    failed = visitor.send(battle_id)
    assert refusal() == "turn_running"
    play(failed)
    assert refusal() == "no_completed_turn"
    runtime.policies = {}
    play(visitor.send(battle_id))
    assert visitor.battle(battle_id)["can_vote"]
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201
    assert refusal() == "already_voted"


@pytest.mark.parametrize("vote", ["left_better", "right_better", "tie", "both_bad"])
def test_a_vote_keeps_its_copies_of_what_it_judged(visitor: Visitor, runtime: FakeRuntime, vote: str) -> None:
    battle_id = play_battle(visitor)
    visitor.post("votes", {"battle_id": battle_id, "vote": vote})
    battle = battle_row(battle_id)
    kept = battle.vote
    assert kept.vote == vote
    assert (kept.left_model_id, kept.right_model_id) == (battle.left_model_id, battle.right_model_id)
    assert (kept.setting, kept.scene, kept.user_id) == ("widowx", "table", battle.session.user_id)
    assert (kept.processing_status, kept.processed_at, kept.error_message) == ("pending", None, None)


def test_a_client_that_prefers_to_wait_is_answered_when_both_sides_have_settled(
    visitor: Visitor, runtime: FakeRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = visitor.open()

    def work() -> None:
        while not Attempt.objects.exists():
            pass
        for rollout in Attempt.objects.all():
            episodes.play(rollout.episode_id)
        connection.close()

    worker = threading.Thread(target=work)
    worker.start()
    answer = visitor.post(f"battles/{battle_id}/turns", {"instruction": "wave"}, Prefer="respond-async, wait=90")
    worker.join()
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert answer["Preference-Applied"] == "wait=60"


def test_waiting_ends_with_running_when_time_is_up(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LONGEST_WAIT_S", 1)
    answer = visitor.post(f"battles/{visitor.open()}/turns", {"instruction": "wave"}, Prefer="wait=5")
    assert (answer.status_code, answer.json()["status"]) == (202, "running")
    assert answer["Preference-Applied"] == "wait=1"


@pytest.mark.parametrize("preference", ["wait", "wait=", "wait=-3", "wait=soon", "handling=strict", "await=5"])
def test_a_preference_that_is_no_wait_is_passed_over(visitor: Visitor, preference: str) -> None:
    answer = visitor.post(f"battles/{visitor.open()}/turns", {"instruction": "wave"}, Prefer=preference)
    assert answer.status_code == 202
    assert "Preference-Applied" not in answer


def test_a_side_that_fails_leaves_the_other_to_go_on_and_the_vote_tells_which_it_was(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = visitor.open()
    runtime.policies = {battle_row(battle_id).left_model_id: FakePolicy(answer=np.full((1, 7), np.nan))}
    turn = visitor.send(battle_id)
    play(turn)
    assert side_of(battle_id, "right").status == "completed"
    seen = visitor.get(f"turns/{turn['turn_id']}").json()
    for side in ("left", "right"):
        assert {**seen[side], "episode_id": ""} == {**FAILED_ALIKE, "episode_id": ""}
        assert visitor.get(f"episodes/{turn[f'{side}_episode_id']}").status_code == 404

    runtime.policies = {}
    play(visitor.send(battle_id))
    assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201
    seen = visitor.get(f"turns/{turn['turn_id']}").json()
    assert (seen["left"]["status"], seen["left"]["error"]) == ("failed", "policy_failed")
    assert (seen["right"]["status"], seen["right"]["error"], seen["right"]["steps"]) == ("completed", None, 50)
    assert visitor.get(f"episodes/{turn['left_episode_id']}").status_code == 404
    assert visitor.get(f"episodes/{turn['right_episode_id']}").status_code == 200


def test_states_are_served_as_float32_once_and_for_all(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    cast(visitor, battle_id)
    episode_id = side_of(battle_id, "left").episode_id
    answer = visitor.get(f"episodes/{episode_id}/states.bin")
    document = get_store().get(episode_id)
    assert document is not None
    assert answer.content == to_float32(document)
    assert from_float32(answer.content, NQ, NQ).shape == (51, 1 + 2 * NQ)
    assert "immutable" in answer["Cache-Control"]
    assert "private" in answer["Cache-Control"]
    squeezed = visitor.get(f"episodes/{episode_id}/states.bin", **{"Accept-Encoding": "gzip"})
    assert squeezed["Content-Encoding"] == "gzip"


def test_all_that_physics_needs_is_served_once_and_for_all(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    cast(visitor, battle_id)
    episode_id = side_of(battle_id, "right").episode_id
    answer = visitor.get(f"episodes/{episode_id}/replay.bin")
    document = get_store().get(episode_id)
    assert document is not None
    assert answer.content == to_float64(document)
    trees = len(document["asleep"][0])
    assert rows_of_replay(answer.content).shape == (51, 1 + 3 * NQ + 14 + 7 + trees)
    assert "immutable" in answer["Cache-Control"]
    assert "private" in answer["Cache-Control"]


def test_an_episode_is_shown_once_both_sides_have_settled(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = visitor.open()
    turn = visitor.send(battle_id)
    episodes.play(turn["left_episode_id"])
    for form in ("", "/view.bin"):
        address = f"episodes/{turn['left_episode_id']}{form}"
        assert visitor.get(address).status_code == 404
    episodes.play(turn["right_episode_id"])
    assert visitor.get(f"episodes/{turn['left_episode_id']}").status_code == 200
