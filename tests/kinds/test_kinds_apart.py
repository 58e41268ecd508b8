"""Kinds stay apart: a contestant of another kind is never drawn, played, voted on or listed with these, and what a kind
does not have is refused in clear words."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.test import Client

from arena import actions, kinds
from arena.errors import MixedKinds, NoContestants
from arena.models import Attempt, AttemptStatus, Battle, Contestant, PairChance, Vote
from arena.queue import hosting, playing, sweeps
from tests.arena.conftest import Visitor, battle_row
from tests.arena.test_attempts import lose
from tests.factories import BattleFactory, PolicyFactory, SessionFactory
from tests.kinds.conftest import SIDES, House

WORDS = "good morning valley"


@pytest.fixture
def policy(transactional_db: None) -> Any:
    return PolicyFactory(id="alpha")


def played_battle(echoes: House, visitor: Visitor) -> tuple[str, dict[str, Any]]:
    battle_id = echoes.open(visitor)
    turn = visitor.send(battle_id, WORDS)
    echoes.play(turn)
    return battle_id, turn


@pytest.mark.parametrize(
    ("body", "code", "known"),
    [
        ({"kind": "nope"}, "unknown_kind", ["echo", "robots"]),
        ({"kind": 7}, "unknown_kind", ["echo", "robots"]),
        ({"kind": "echo", "setting": "nope"}, "unknown_setting", ["any", "words"]),
        ({"kind": "echo", "scene": "table"}, "unknown_scene", ["any", "cave", "valley"]),
    ],
)
def test_an_unknown_kind_setting_or_scene_is_refused_with_the_known_ones(
    echoes: House, visitor: Visitor, body: dict[str, Any], code: str, known: list[str]
) -> None:
    answer = visitor.post("sessions/init", body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert set(known) <= set(answer.json()["known"])


def test_only_contestants_of_the_kind_are_drawn(echoes: House, policy: Any, visitor: Visitor) -> None:
    for _ in range(20):
        battle_id = visitor.post("sessions/init", {"kind": "echo"}).json()["battle_id"]
        battle = battle_row(battle_id)
        assert {battle.left_model.kind, battle.right_model.kind} == {"echo"}
    alone = visitor.post("sessions/init", {"kind": "robots"})
    assert (alone.status_code, alone.json()["code"]) == (503, NoContestants.code)


def test_a_kind_that_offers_others_contestants_gets_none_of_them(
    echoes: House, policy: Any, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(echoes.kind), "eligible", lambda self, place: Contestant.objects.all())
    PairChance.objects.create(pool="echo/words/valley", one_id="alpha", other_id="echo-repeats", chance=1.0)
    for _ in range(10):
        battle_id = visitor.post("sessions/init", {"kind": "echo"}).json()["battle_id"]
        assert "alpha" not in {battle_row(battle_id).left_model_id, battle_row(battle_id).right_model_id}


def test_a_battle_of_two_kinds_is_not_stored(echoes: House, policy: Any) -> None:
    for pair in ((policy, echoes.pair[0]), (echoes.pair[0], policy), echoes.pair):
        with pytest.raises(ValueError, match="not both of robots"):
            BattleFactory(session=SessionFactory(kind="robots"), left_model=pair[0], right_model=pair[1])


def test_a_battle_that_was_made_of_two_kinds_by_hand_takes_no_vote(
    echoes: House, policy: Any, visitor: Visitor
) -> None:
    battle_id, _ = played_battle(echoes, visitor)
    Battle.objects.filter(battle_id=battle_id).update(left_model=policy)
    with pytest.raises(MixedKinds):
        actions.cast_vote(battle_row(battle_id), "tie")
    answer = visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    assert (answer.status_code, answer.json()["code"]) == (409, "mixed_kinds")
    assert "alpha" not in answer.content.decode()
    assert not Vote.objects.exists()


def test_a_contestant_of_another_kind_plays_nothing(echoes: House, policy: Any, visitor: Visitor) -> None:
    battle_id = echoes.open(visitor)
    Battle.objects.filter(battle_id=battle_id).update(left_model=policy)
    turn = visitor.send(battle_id, WORDS)
    echoes.play(turn)
    assert visitor.battle(battle_id)["turns"][0]["left"]["error"] == "turn_failed"


def test_the_calls_and_pages_of_policies_know_no_other_contestant(echoes: House, policy: Any, visitor: Visitor) -> None:
    assert [row["model_id"] for row in visitor.get("models").json()["results"]] == ["alpha"]
    assert visitor.get("models/echo-repeats").status_code == 404
    assert "echo-repeats" not in visitor.client.get("/models").content.decode()
    assert visitor.client.get("/models/echo-repeats").status_code == 404


def test_reasons_are_those_of_the_battles_kind(echoes: House, visitor: Visitor) -> None:
    battle_id, _ = played_battle(echoes, visitor)
    wrong = visitor.post("votes", {"battle_id": battle_id, "vote": "tie", "reasons": {"closer": "left"}})
    assert (wrong.status_code, wrong.json()["known"]) == (422, ["clearer"])


def test_a_kind_of_one_start_refuses_several_and_nothing_is_left_behind(echoes: House, visitor: Visitor) -> None:
    battle_id = echoes.open(visitor)
    answer = visitor.post(f"battles/{battle_id}/turns", {"instruction": WORDS, "starts": 3})
    assert (answer.status_code, answer.json()["code"], answer.json()["known"]) == (422, "invalid_starts", [1])
    assert visitor.battle(battle_id)["turns"] == []
    visitor.send(battle_id, WORDS)


def test_what_only_robots_have_is_refused_for_another_kind(echoes: House, visitor: Visitor) -> None:
    battle_id, turn = played_battle(echoes, visitor)
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    assert visitor.battle(battle_id)["can_explore"] is False
    answers = [visitor.post(f"battles/{battle_id}/explorations", {})]
    for side in SIDES:
        answers += [
            visitor.get(f"episodes/{turn[f'{side}_episode_id']}/{name}.bin") for name in ("view", "states", "replay")
        ]
    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(422, "other_kind")}


def test_a_battle_is_shown_on_the_page_of_its_own_kind(echoes: House, visitor: Visitor) -> None:
    battle_id = echoes.open(visitor)
    assert visitor.client.get(f"/battle/{battle_id}")["Location"] == f"/echo/{battle_id}"
    assert Client().get(f"/battle/{battle_id}").status_code == 404


def test_a_kind_without_several_starts_does_not_offer_them(echoes: House, policy: Any, visitor: Visitor) -> None:
    offered = 'data-part="starts" data-offered'
    assert offered in visitor.client.get("/battle").content.decode()
    assert offered not in visitor.client.get("/echo").content.decode()


def test_an_instruction_is_checked_by_its_kind(
    echoes: House, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = echoes.open(visitor)
    for wrong, code in (
        ("", "invalid_instruction"),
        ("a" * 10_000, "instruction_too_long"),
        (7, "invalid_instruction"),
    ):
        answer = visitor.post(f"battles/{battle_id}/turns", {"instruction": wrong})
        assert (answer.status_code, answer.json()["code"]) == (422, code)
    monkeypatch.setattr(type(echoes.kind), "clean_instruction", lambda self, said: said.upper())
    visitor.send(battle_id, "hello\nthere")
    assert visitor.battle(battle_id)["turns"][0]["instruction"] == "HELLO\nTHERE"


def test_workers_host_nothing_of_a_kind_that_is_played_where_it_is_sent(echoes: House, policy: Any) -> None:
    policy.model_path = "/anywhere"
    policy.save()
    assert {contestant.id for contestant in hosting.hosted()} == {"alpha"}


def test_a_sweep_plays_what_was_lost_with_its_process(
    echoes: House, visitor: Visitor, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    battle_id = echoes.open(visitor)
    with monkeypatch.context() as lost:
        lost.setattr(playing, "play_here", lambda episode_ids: None)
        turn = visitor.send(battle_id, WORDS)
    left = Attempt.objects.get(episode_id=turn["left_episode_id"])
    assert actions.claim_attempt(left.episode_id, "a process that is no more") is not None
    lose(Attempt.objects.get(pk=left.pk))
    Attempt.objects.filter(side="right").update(sent_at=left.created_at.replace(year=2020))
    assert sweeps.sweep() == 2
    echoes.play(turn)
    assert set(Attempt.objects.values_list("status", flat=True)) == {AttemptStatus.COMPLETED}


def test_staff_see_battles_of_every_kind(echoes: House, policy: Any, visitor: Visitor) -> None:
    battle_id, _ = played_battle(echoes, visitor)
    staff = Client()
    staff.force_login(User.objects.create_superuser("boss"))
    addresses = [f"/admin/arena/{name}/" for name in ("session", "battle", "turn", "attempt", "vote")]
    addresses += [f"/admin/arena/battle/{battle_row(battle_id).pk}/change/", "/admin/status/"]
    for address in addresses:
        answer = staff.get(address, follow=True)
        assert answer.status_code == 200, address


def test_every_kind_is_in_the_description_of_the_api(visitor: Visitor) -> None:
    described = yaml.safe_load(visitor.get("schema/").content)
    body = described["paths"]["/api/sessions/init"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert body["properties"]["kind"]["enum"] == [kind.id for kind in kinds.offered()]
    for kind in kinds.every():
        assert set(kind.names) <= set(body["properties"])


def test_a_kind_that_raises_fails_its_side_at_once_and_keeps_the_reason(echoes: House, visitor: Visitor) -> None:
    battle_id = echoes.open(visitor)
    Contestant.objects.filter(pk=echoes.pair[0].pk).update(family="sings")
    echoes.play(visitor.send(battle_id, WORDS))
    left = Attempt.objects.get(side="left")
    assert (left.status, left.termination_reason, left.tries) == (AttemptStatus.FAILED, "internal", 1)
    assert "sings" in left.error
