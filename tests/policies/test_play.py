"""`manage.py play`: one turn of two policies without the web."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from arena.store import StoreUnavailable, get_store
from robots import exhibition
from simulation.contracts import Floats, Observation
from simulation.expert import HoldStill
from simulation.variation import variation_of

INSTRUCTION = "pick up the red cube"
KEYS = {"model_id", "episode_id", "steps", "success", "progress", "termination_reason", "duration_ms", "start_hash"}


def play(*arguments: str, instruction: str = INSTRUCTION) -> dict[str, Any]:
    out = StringIO()
    call_command("play", instruction, *arguments, "--json", stdout=out)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


@pytest.mark.django_db
def test_both_sides_start_alike_and_are_told_apart_by_what_they_do() -> None:
    answer = play("--left", "scripted-expert", "--right", "hold-still", "--seed", "5")
    left, right = answer["left"], answer["right"]
    assert set(left) >= KEYS
    assert left["start_hash"] == right["start_hash"]
    assert (left["success"], left["termination_reason"], left["progress"]) == (True, "success", 1.0)
    assert (right["success"], right["termination_reason"], right["steps"]) == (False, "step_limit", 50)


@pytest.mark.django_db
def test_episodes_are_stored_with_their_actions_and_states() -> None:
    answer = play("--left", "scripted-expert", "--right", "scripted-expert", "--seed", "6")
    for side in ("left", "right"):
        document = get_store().get(answer[side]["episode_id"])
        assert answer[side]["stored"]
        assert document is not None
        assert (document["side"], document["instruction"], document["seed"]) == (side, INSTRUCTION, 6)
        assert len(document["actions"]) == answer[side]["steps"] == len(document["states"]) - 1


@pytest.mark.django_db
def test_what_both_sides_see_is_varied_by_a_secret_that_is_told_kept_and_can_be_given_again() -> None:
    answer = play("--left", "scripted-expert", "--right", "hold-still")
    secret = answer["left"]["secret"]
    assert answer["right"]["secret"] == secret
    assert len(secret) == 32
    again = play("--left", "scripted-expert", "--right", "hold-still", "--secret", secret)
    for side in ("left", "right"):
        documents = [get_store().get(each[side]["episode_id"]) for each in (answer, again)]
        assert [document and document["secret"] for document in documents] == [secret, secret]
        looks = [document and document["variation"] for document in documents]
        assert looks == [variation_of(secret).to_json()] * 2


@pytest.mark.django_db
@pytest.mark.parametrize("secret", ["12", "G" * 32, "A" * 32, "a" * 33])
def test_a_secret_is_32_hexadecimal_digits(secret: str) -> None:
    with pytest.raises(CommandError, match="32 hexadecimal digits"):
        play("--left", "hold-still", "--right", "hold-still", "--secret", secret)


@pytest.mark.django_db
def test_without_an_episode_store_the_turn_is_played_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable() -> None:
        raise StoreUnavailable("down")

    monkeypatch.setattr(exhibition, "get_store", unavailable)
    answer = play("--left", "hold-still", "--right", "hold-still")
    assert not answer["left"]["stored"]
    assert answer["left"]["steps"] == 50


@pytest.mark.django_db
def test_a_policy_that_fails_ends_its_own_side_only_and_the_command_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: HoldStill, observation: Observation) -> Floats:
        raise ValueError("no idea")

    monkeypatch.setattr(HoldStill, "infer", broken)
    out = StringIO()
    with pytest.raises(CommandError, match="right"):
        call_command("play", INSTRUCTION, "--left", "scripted-expert", "--right", "hold-still", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    assert answer["left"]["success"]
    assert answer["right"]["error"].startswith("infer raised ValueError")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--left", "nobody", "--right", "hold-still"], "unknown policy 'nobody'; known: .*hold-still"),
        (["--left", "hold-still", "--right", "hold-still", "--robot", "hal"], r"hal.*known: .*widowx"),
        (["--left", "hold-still", "--right", "hold-still", "--scene", "moon"], r"moon.*known: .*table"),
    ],
)
def test_unknown_names_list_the_known_ones(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        play(*arguments)


@pytest.mark.django_db
def test_an_empty_instruction_is_refused() -> None:
    with pytest.raises(CommandError, match="empty"):
        play("--left", "hold-still", "--right", "hold-still", instruction="  ")
