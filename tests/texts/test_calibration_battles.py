"""Prompts said again become repeats now and then: the earlier pair with the sides swapped, played like every battle,
told nowhere, never counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from arena import kinds
from arena.models import Battle, Hosting, Purpose, Vote
from rankings.models import CountedVote
from rankings.votes.observed import calibration_results
from tests.arena.conftest import Visitor
from tests.arena.test_queries import counted
from tests.kinds.conftest import House
from tests.texts.conftest import Models
from texts import calibration

WORDS = "Why is the sky blue?"
Houses = Callable[[str, str], House]


@pytest.fixture
def pair(house: Houses, monkeypatch: pytest.MonkeyPatch) -> House:
    """Two models that a worker hosts."""
    made = house("quick", "without-usage")
    Hosting.objects.bulk_create(Hosting(worker="one", contestant=model) for model in made.pair)
    monkeypatch.setattr(calibration, "MOST_REPEATED", 1.0)
    return made


def opened(visitor: Visitor) -> Battle:
    response = visitor.post("sessions/init", {"kind": "text"})
    assert response.status_code == 201, response.content
    return Battle.objects.get(battle_id=response.json()["battle_id"])


def voted(pair: House, visitor: Visitor, prompt: str, vote: str = "left_better") -> Battle:
    battle = opened(visitor)
    pair.play(visitor.send(battle.battle_id, prompt))
    assert visitor.post("votes", {"battle_id": battle.battle_id, "vote": vote}).status_code == 201
    battle.refresh_from_db()
    return battle


@pytest.fixture
def history(pair: House, visitor: Visitor) -> list[Battle]:
    """The first of these is old enough to be repeated."""
    return [
        voted(pair, visitor, prompt) for prompt in (WORDS, *(f"And {number}?" for number in range(calibration.GAP)))
    ]


def sent(visitor: Visitor, prompt: str = WORDS) -> Battle:
    battle = opened(visitor)
    visitor.send(battle.battle_id, prompt)
    battle.refresh_from_db()
    return battle


def test_a_repeat_asks_the_earlier_pair_again_with_the_sides_swapped(
    visitor: Visitor, history: list[Battle], settings: Any
) -> None:
    settings.REPEAT_SHARE = 1.0
    again, first = sent(visitor), history[0]
    assert (again.purpose, again.repeats_id) == (Purpose.REPEAT, first.battle_id)
    assert (again.left_model_id, again.right_model_id) == (first.right_model_id, first.left_model_id)
    assert again.secret != first.secret


@pytest.mark.parametrize(
    ("case", "prompt"), [("other words", "Why is the sea blue?"), ("words of a moment ago", "And 0?"), ("again", WORDS)]
)
def test_other_prompts_and_other_voters_are_not_repeated(
    visitor: Visitor, history: list[Battle], settings: Any, case: str, prompt: str
) -> None:
    settings.REPEAT_SHARE = 1.0
    assert sent(Visitor() if case == "again" else visitor, prompt).purpose == Purpose.RANK


@pytest.mark.usefixtures("history")
def test_a_battle_is_repeated_once(visitor: Visitor, settings: Any) -> None:
    settings.REPEAT_SHARE = 1.0
    assert [sent(visitor).purpose for _ in range(2)] == [Purpose.REPEAT, Purpose.RANK]


def test_a_battle_with_a_follow_up_is_not_repeated(pair: House, visitor: Visitor, settings: Any) -> None:
    settings.REPEAT_SHARE = 1.0
    followed = opened(visitor)
    for prompt in (WORDS, "And at night?"):
        pair.play(visitor.send(followed.battle_id, prompt))
    visitor.post("votes", {"battle_id": followed.battle_id, "vote": "tie"})
    for number in range(calibration.GAP):
        voted(pair, visitor, f"And {number}?")
    assert sent(visitor).purpose == Purpose.RANK


@pytest.mark.usefixtures("history")
def test_without_a_share_nothing_is_repeated(visitor: Visitor, settings: Any) -> None:
    settings.REPEAT_SHARE = 0.0
    assert sent(visitor).purpose == Purpose.RANK


def test_models_that_no_worker_hosts_and_pairs_without_a_common_model_are_not_repeated(
    visitor: Visitor, history: list[Battle], model: Models, settings: Any
) -> None:
    settings.REPEAT_SHARE = 1.0
    others = [model("slow"), model("numbers")]
    Hosting.objects.bulk_create(Hosting(worker="one", contestant=each) for each in others)
    battle = opened(visitor)
    Battle.objects.filter(pk=battle.pk).update(left_model=others[0], right_model=others[1])
    visitor.send(battle.battle_id, WORDS)
    battle.refresh_from_db()
    assert (battle.purpose, battle.left_model_id) == (Purpose.RANK, others[0].id)
    Hosting.objects.filter(contestant=history[0].left_model_id).delete()
    assert sent(visitor).purpose == Purpose.RANK


def test_a_repeat_is_played_and_voted_on_like_every_battle_told_nowhere_and_not_counted(
    pair: House, visitor: Visitor, history: list[Battle], settings: Any
) -> None:
    ordinary = visitor.battle(history[0].battle_id)
    settings.REPEAT_SHARE = 1.0
    again = voted(pair, visitor, WORDS, "right_better")
    told = visitor.battle(again.battle_id)
    assert told.keys() == ordinary.keys()
    assert not {"purpose", "repeats", "repeat"} & {word.strip('"') for word in json.dumps(told).split()}
    assert Vote.objects.get(battle=again).purpose == Purpose.REPEAT
    assert not CountedVote.objects.filter(vote__battle=again, counted=True).exists()
    [found] = calibration_results(kinds.get("text")).values()
    assert (found.items, found.score, found.same, found.other) == (1, 1.0, 1, 0)  # the same model both times


@pytest.mark.usefixtures("history")
def test_a_prompt_said_again_takes_one_query_more_whatever_becomes_of_it(visitor: Visitor, pair: House) -> None:
    """So the time tells nothing: whether a prompt was said before is no secret of its visitor's."""
    spent = []
    for prompt in ("What is a cloud?", WORDS):
        address = f"battles/{opened(visitor).battle_id}/turns"
        number, answer = counted(lambda to=address, said=prompt: visitor.post(to, {"instruction": said}))
        spent.append(number)
        pair.play(answer.json())
    assert spent[1] <= spent[0] + 1
