"""The last turn is answered again by both sides or by one, and nothing of it tells how quick a model is alone."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest

from arena.live.chunk_cache import Passed
from arena.models import Attempt, Turn
from arena.queue import dispatch
from tests.arena.conftest import Visitor
from tests.kinds.conftest import SIDES, House
from tests.texts.servers import QUICK, SCRIPTS, SLOW, Answering, ScriptedServer
from tests.texts.test_conversations import told

Houses = Callable[[str, str], House]


def again(visitor: Visitor, battle_id: str, **body: Any) -> dict[str, Any]:
    sent = visitor.post(f"battles/{battle_id}/again", body)
    assert sent.status_code == 202, sent.content
    return dict(sent.json())


def shown(visitor: Visitor, turn: dict[str, Any]) -> list[str]:
    return [visitor.get(f"episodes/{turn[f'{side}_episode_id']}").json()["text"].strip() for side in SIDES]


def test_both_answer_the_same_prompt_again_and_go_on_from_the_new_answers(
    house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("numbers", "quick")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    turn = again(visitor, battle_id)
    houses.play(turn)
    assert shown(visitor, turn) == ["Answer 2", QUICK]
    assert told(server, "numbers")[1] == ["user: Why?"]
    houses.play(visitor.send(battle_id, "And then?"))
    assert told(server, "numbers")[2] == ["user: Why?", "assistant: Answer 2", "user: And then?"]


def test_one_side_answers_again_and_the_other_keeps_its_answer(
    house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("numbers", "quick")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    houses.play(turn := again(visitor, battle_id, side="right"))
    assert shown(visitor, turn) == ["Answer 1", QUICK]
    houses.play(turn := again(visitor, battle_id, side="left"))
    assert shown(visitor, turn) == ["Answer 3", QUICK]
    houses.play(visitor.send(battle_id, "And then?"))
    assert told(server, "numbers")[-1] == ["user: Why?", "assistant: Answer 3", "user: And then?"]


def test_the_model_whose_answer_is_kept_is_asked_all_the_same(
    house: Houses, visitor: Visitor, server: ScriptedServer
) -> None:
    houses = house("numbers", "quick")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    houses.play(turn := again(visitor, battle_id, side="right"))
    assert told(server, "numbers") == [["user: Why?"]] * 2
    first, kept = Attempt.objects.filter(side="left").order_by("pk")
    assert (kept.episode_id, kept.length) == (turn["left_episode_id"], first.length)


def test_no_more_of_the_kept_answer_is_shown_than_has_come_of_the_new_one(
    house: Houses, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    houses = house("slow", "quick")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    released, passed = Event(), []
    monkeypatch.setitem(SCRIPTS, "slow", waits_inside("x" * 30, released))

    def note(chunks: list[Passed]) -> None:
        for each in chunks:
            if each.side == "left":
                passed.append((b"".join(each.chunks or []).decode(), released.is_set()))
                if len(passed) == 2:  # after the empty start
                    released.set()

    monkeypatch.setattr("texts.progress.actions.pass_all", note)
    houses.play(again(visitor, battle_id, side="right"))
    assert passed[:2] == [("", False), (SLOW[:24], False)]
    assert "".join(text for text, _ in passed).strip() == SLOW.strip()


def waits_inside(beginning: str, released: Event) -> Callable[[Answering], None]:
    def script(at: Answering) -> None:
        at.begin()
        at.delta(content=beginning)
        assert released.wait(20)
        at.end()

    return script


def test_the_vote_tells_of_the_kept_answer_what_it_took(house: Houses, visitor: Visitor) -> None:
    houses = house("quick", "numbers")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    houses.play(again(visitor, battle_id, side="right"))
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    first, second = (turn["left"]["outcome"] for turn in visitor.battle(battle_id)["turns"])
    assert second == first


def test_a_turn_that_failed_replaces_nothing(house: Houses, visitor: Visitor, server: ScriptedServer) -> None:
    houses = house("numbers", "quick")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    server.down = True
    houses.play(again(visitor, battle_id))
    server.down = False
    assert visitor.post(f"battles/{battle_id}/again").json()["code"] == "nothing_to_repeat"
    houses.play(visitor.send(battle_id, "And then?"))
    assert told(server, "numbers")[-1] == ["user: Why?", "assistant: Answer 1", "user: And then?"]


def test_what_cannot_be_repeated_is_refused_and_begins_nothing(house: Houses, visitor: Visitor) -> None:
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    assert visitor.post(f"battles/{battle_id}/again").json()["code"] == "nothing_to_repeat"
    houses.play(visitor.send(battle_id, "Why?"))
    assert visitor.post(f"battles/{battle_id}/again", {"side": "middle"}).status_code == 422
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    assert visitor.post(f"battles/{battle_id}/again").json()["code"] == "battle_closed"
    assert Turn.objects.count() == 1


def test_nothing_is_left_behind_where_the_queue_is_down(
    house: Houses, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))

    def down(*_: object) -> None:
        raise dispatch.QueueUnavailable

    monkeypatch.setattr(dispatch, "send", down)
    assert visitor.post(f"battles/{battle_id}/again").status_code == 503
    assert Turn.objects.count() == 1


def test_a_turn_that_was_stopped_does_not_stand_in_the_way(house: Houses, visitor: Visitor) -> None:
    houses = house("numbers", "quick")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "Why?"))
    stopped = visitor.send(battle_id, "And then?")
    assert visitor.post(f"turns/{stopped['turn_id']}/cancel").status_code == 200
    houses.play(turn := again(visitor, battle_id))
    assert shown(visitor, turn) == ["Answer 2", QUICK]
