"""One call gives both answers, one call votes; the battles are those of the page."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from django.db import connection

from arena.models import Attempt, Battle, Session, Turn, Vote
from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.texts.servers import QUICK, ScriptedServer
from vlaarena.handler import WAITING_PATH, _asks_to_wait, _without_wait

Houses = Callable[[str, str], House]
TEXTS = {"the-quick": f"{QUICK} ", "the-without-usage": "one two three", "the-broken": None}


@pytest.fixture
def worker(transactional_db: None, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plays what is sent, side by side, when it is sent."""
    threads: list[threading.Thread] = []

    def play(episode_id: str) -> None:
        from texts.play import play

        play(episode_id)
        connection.close()

    def send(attempts: Mapping[str, str], profile: str = "") -> None:
        for episode_id in attempts:
            threads.append(threading.Thread(target=play, args=(episode_id,)))
            threads[-1].start()

    monkeypatch.setattr("arena.queue.dispatch.send_to_workers", send)
    monkeypatch.setattr("arena.queue.hosting.Hosts.unhosted", lambda *_: set())
    yield
    for thread in threads:
        thread.join()


def said(visitor: Visitor, message: Any, **more: Any) -> Any:
    return visitor.post("arena/battle", {"message": message, **more})


def models_of(battle_id: str) -> tuple[str, str]:
    battle = Battle.objects.get(battle_id=battle_id)
    return battle.left_model_id, battle.right_model_id


def test_one_call_answers_with_both_texts_and_no_name(worker: None, house: Houses, visitor: Visitor) -> None:
    house("quick", "without-usage")
    answer = said(visitor, "Why is the sky blue?")
    told = answer.json()
    assert answer.status_code == 200, told
    left, right = models_of(told["battle_id"])
    assert (told["response_a"], told["response_b"]) == (TEXTS[left], TEXTS[right])
    assert (told["status"], told["model_a"], told["model_b"]) == ("completed", "???", "???")
    assert "the-" not in answer.content.decode()


def test_with_the_battle_the_next_message_goes_on_from_the_answers(
    worker: None, house: Houses, visitor: Visitor
) -> None:
    house("quick", "without-usage")
    battle_id = said(visitor, "Why is the sky blue?").json()["battle_id"]
    assert said(visitor, "And at night?", battle_id=battle_id).json()["battle_id"] == battle_id
    assert Turn.objects.filter(battle_id=battle_id).count() == 2
    assert Session.objects.count() == 1


@pytest.mark.parametrize(
    ("preference", "stored"),
    [("left", "left_better"), ("right", "right_better"), ("tie", "tie"), ("both_bad", "both_bad")],
)
def test_a_preference_is_a_vote_and_tells_who_was_who(
    worker: None, house: Houses, visitor: Visitor, preference: str, stored: str
) -> None:
    house("quick", "without-usage")
    battle_id = said(visitor, "Why?").json()["battle_id"]
    answer = visitor.post("arena/vote", {"battle_id": battle_id, "preference": preference})
    assert answer.status_code == 201, answer.content
    told = answer.json()
    assert (told["model_a"]["model_id"], told["model_b"]["model_id"]) == models_of(battle_id)
    vote = Vote.objects.get(battle_id=battle_id)
    assert (vote.vote, vote.vote_id) == (stored, told["vote_id"])
    again = visitor.post("arena/vote", {"battle_id": battle_id, "preference": preference})
    assert (again.status_code, again.json()["code"]) == (409, "already_voted")


def test_a_failed_turn_says_so_and_which_side_it_was_it_does_not(worker: None, house: Houses, visitor: Visitor) -> None:
    house("quick", "broken")
    told = said(visitor, "Why?").json()
    assert (told["status"], told["response_a"], told["response_b"]) == ("failed", None, None)


@pytest.mark.parametrize("message", [None, "", "   ", 7, ["a"], "x" * 2001, "a\x00b", "\n" * 50_000, "a\n" * 200])
def test_what_is_no_message_is_refused_and_opens_nothing(
    worker: None, house: Houses, visitor: Visitor, message: Any
) -> None:
    house("quick", "without-usage")
    refused = said(visitor, message)
    assert refused.status_code in (413, 422), refused.content
    assert not Session.objects.exists()
    assert not Attempt.objects.exists()


def test_only_the_own_battle_takes_messages_and_preferences(worker: None, house: Houses, visitor: Visitor) -> None:
    house("quick", "without-usage")
    battle_id = said(visitor, "Why?").json()["battle_id"]
    stranger = Visitor()
    assert said(stranger, "Mine!", battle_id=battle_id).status_code == 404
    assert stranger.post("arena/vote", {"battle_id": battle_id, "preference": "left"}).status_code == 404
    refused = visitor.post("arena/vote", {"battle_id": battle_id, "preference": "a"})
    assert (refused.status_code, refused.json()["known"]) == (422, ["left", "right", "tie", "both_bad"])
    assert not Vote.objects.exists()


def test_the_call_waits_in_the_pool_for_waiting_and_at_once_where_that_is_full() -> None:
    scope = {"type": "http", "path": f"{WAITING_PATH}/", "method": "POST", "headers": []}
    assert _asks_to_wait(scope)
    assert not _asks_to_wait({**scope, "method": "GET"})
    assert not _asks_to_wait({**scope, "path": "/api/battles"})
    assert _without_wait(scope)["arena.at_once"] is True
