"""From answers to ratings controlled for style: measured when they come, summed over what was voted on, published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from arena import kinds
from arena.actions.owners import REMOVED
from arena.models import Turn
from rankings.analysis import style as controlled
from rankings.publication import aggregation
from tests.arena.conftest import Visitor
from tests.kinds.conftest import House
from tests.texts.servers import SCRIPTS, answers
from texts.about import category_of, language_of
from texts.models import Answer
from texts.style import style_of

Houses = Callable[[str, str], House]
LONG = "## Why\n\n- **air** scatters\n- blue light\n\n1. most\n\n```python\n# no heading\n- no item\n```\n"


@pytest.fixture
def two(house: Houses, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setitem(SCRIPTS, "slow", answers(LONG))
    monkeypatch.setattr(controlled, "LEAST_VOTES", 1)
    return house("quick", "slow")


def voted(houses: House, visitor: Visitor, *prompts: str, vote: str = "right_better") -> str:
    battle_id = houses.open(visitor)
    for prompt in prompts:
        houses.play(visitor.send(battle_id, prompt))
    assert visitor.post("votes", {"battle_id": battle_id, "vote": vote}).status_code == 201
    return battle_id


def report(visitor: Visitor) -> dict[str, Any]:
    aggregation.aggregate()
    found: dict[str, Any] = visitor.get("leaderboard/report?kind=text").json()["controlled"]
    return found


def test_code_has_tokens_and_no_layout() -> None:
    assert style_of(LONG)[1:] == (1, 3, 1)
    assert style_of("A word, 25 %.") == (6, 0, 0, 0)
    assert style_of("你好 __so__ 2**3**4").tokens > 2
    assert style_of("```\n- open fence\n# that never ends").headings == 0


@pytest.mark.parametrize(
    ("prompt", "category", "language"),
    [
        ("Why is the sky blue?", "explain", "en"),
        ("Schreibe ein kurzes Gedicht über Regen.", "write", "de"),
        ("Écris une fonction Python qui inverse une liste", "code", "fr"),
        ("Was soll ich mit Reis und Eiern kochen?", "plan", "de"),
        ("What is 17 * 23?", "math", "en"),
        ("Почему небо голубое?", "other", "ru"),
        ("2 + 2", "math", ""),
        ("", "other", ""),
        ("ok", "other", ""),
    ],
)
def test_a_prompt_has_a_category_and_a_language_where_its_words_tell(prompt: str, category: str, language: str) -> None:
    assert (category_of(prompt), language_of(prompt)) == (category, language)


def test_boards_by_category_and_language_are_published_with_the_plain_one(two: House, visitor: Visitor) -> None:
    voted(two, visitor, "Why is the sky blue today?")
    voted(two, visitor, "Warum ist der Himmel heute so blau?")
    found = report(visitor)
    assert {name: each["plain"]["votes"] for name, each in found.items()} == {
        "all": 2,
        "category=explain": 2,
        "language=de": 1,
        "language=en": 1,
    }
    assert set(found["all"]["style"]["terms"]) == {"tokens", "headings", "list_items", "bold"}
    assert set(found["all"]["plain"]["models"]) == {"the-quick", "the-slow"}


def test_a_vote_is_about_the_sum_of_the_conversation_and_a_replaced_answer_is_no_part_of_it(
    two: House, visitor: Visitor
) -> None:
    battle_id = two.open(visitor)
    two.play(visitor.send(battle_id, "Why is the sky blue?"))
    two.play(visitor.post(f"battles/{battle_id}/again", {}).json())
    two.play(visitor.send(battle_id, "And at night?"))
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    [look] = kinds.get("text").looks()
    per_answer = Answer.objects.filter(attempt__model_id="the-slow").values_list("tokens", flat=True)
    assert len(per_answer) == 3
    assert look.right == [2.0 * (per_answer[0] or 0), 2.0, 6.0, 2.0]
    assert look.groups == {"category": "explain", "language": "en"}


def test_what_a_prompt_was_about_stays_when_its_words_are_removed(two: House, visitor: Visitor) -> None:
    battle_id = voted(two, visitor, "Why is the sky blue?")
    Turn.objects.filter(battle_id=battle_id).update(instruction=REMOVED)
    assert "category=explain" in report(visitor)


def test_answers_of_before_are_on_the_plain_board_alone(two: House, visitor: Visitor) -> None:
    voted(two, visitor, "Why is the sky blue?")
    Answer.objects.update(tokens=None)
    assert report(visitor) == {}
    assert visitor.get("leaderboard?kind=text").json()["provisional"][0]["vote_count"] == 1


def test_the_pages_show_the_ratings_beside_the_plain_ones(two: House, visitor: Visitor, client: Client) -> None:
    voted(two, visitor, "Warum ist der Himmel heute so blau?")
    aggregation.aggregate()
    board = client.get("/leaderboard?kind=text").content.decode()
    assert "With length and style taken out" in board
    page = client.get("/leaderboard/style?kind=text&group=language%3Dde").content.decode()
    assert '<option value="language=de" selected>Deutsch (1)</option>' in page
    assert "Twice as long" in page
    assert "Length and style" not in client.get("/leaderboard?kind=robots").content.decode()
    assert client.get("/leaderboard/style?kind=robots").status_code == 200
