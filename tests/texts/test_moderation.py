"""What is against a site's rules is neither sent nor shown. A vote on an answer that names its model counts not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from arena.models import Attempt, Battle
from arena.store import get_store
from rankings.models import CountedVote
from tests.arena.conftest import Visitor
from tests.factories import TextModelFactory
from tests.kinds.conftest import SIDES, House
from tests.texts.servers import QUICK, SCRIPTS, ScriptedServer, answers
from texts.chunks import count
from texts.models import LanguageModel
from texts.names import names_itself

Houses = Callable[[str, str], House]


@pytest.fixture
def word_list(tmp_path: Path, settings: Any) -> Path:
    path = tmp_path / "words.txt"
    path.write_text("# not on this site\nscatters blue\nGr\u00fcn\n", encoding="utf-8")
    settings.TEXT = {**settings.TEXT, "forbidden_words": str(path)}
    return path


@pytest.fixture
def endpoint(server: ScriptedServer, settings: Any) -> ScriptedServer:
    settings.TEXT = {**settings.TEXT, "moderation_url": server.url}
    return server


@pytest.mark.parametrize("prompt", ["It scatters\n blue light", "Why is it GR\u00dcN?"])
def test_a_prompt_with_a_forbidden_word_is_refused_and_begins_nothing(
    house: Houses, visitor: Visitor, word_list: Path, server: ScriptedServer, prompt: str
) -> None:
    battle_id = house("quick", "slow").open(visitor)
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": prompt})
    assert (refused.status_code, refused.json()["code"]) == (422, "prompt_refused")
    assert visitor.battle(battle_id)["turns"] == []
    assert not server.requests


def test_a_part_of_a_word_is_not_forbidden_and_the_list_may_change(
    house: Houses, visitor: Visitor, word_list: Path
) -> None:
    houses = house("slow", "without-usage")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "What are gr\u00fcne Bohnen?"))
    word_list.write_text("bohnen\n", encoding="utf-8")
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "Bohnen?"})
    assert refused.json()["code"] == "prompt_refused"


def fails_before_it_is_shown(houses: House, visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    """The left side, whose answer has what is forbidden."""
    passed: list[str] = []
    monkeypatch.setattr("texts.progress.actions.pass_all", lambda chunks: passed.extend(each.side for each in chunks))
    battle_id = houses.open(visitor)
    turn = visitor.send(battle_id, "Why?")
    houses.play(turn)
    left, right = (Attempt.objects.get(episode_id=turn[f"{side}_episode_id"]) for side in SIDES)
    assert (left.status, left.termination_reason, left.length) == ("failed", "moderated", count(len(QUICK) + 1))
    assert right.status == "completed"
    assert get_store().get(left.episode_id) is None
    assert passed.count("left") == 1  # the start, which is empty
    assert passed.count("right") == 2
    assert [visitor.battle(battle_id)["turns"][0][side]["error"] for side in SIDES] == ["turn_failed"] * 2


def test_an_answer_with_a_forbidden_word_is_not_shown(
    house: Houses, visitor: Visitor, word_list: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_before_it_is_shown(house("quick", "slow"), visitor, monkeypatch)


def test_an_endpoint_judges_prompts_and_answers(
    house: Houses, visitor: Visitor, endpoint: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    houses = house("quick", "slow")
    fails_before_it_is_shown(houses, visitor, monkeypatch)
    assert len(endpoint.judged) == 3
    refused = visitor.post(f"battles/{houses.open(visitor)}/turns", {"instruction": "What scatters light?"})
    assert refused.json()["code"] == "prompt_refused"


def test_what_cannot_be_judged_is_not_sent(house: Houses, visitor: Visitor, endpoint: ScriptedServer) -> None:
    battle_id = house("quick", "slow").open(visitor)
    endpoint.down = True
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "Why?"})
    assert (refused.status_code, refused.json()["code"]) == (503, "moderation_unavailable")
    assert not endpoint.requests


def test_a_list_that_is_gone_lets_nothing_through(house: Houses, visitor: Visitor, word_list: Path) -> None:
    battle_id = house("quick", "slow").open(visitor)
    word_list.unlink()
    assert visitor.post(f"battles/{battle_id}/turns", {"instruction": "Why?"}).status_code == 503


def test_the_vote_on_an_answer_that_names_its_maker_is_kept_and_does_not_count(
    house: Houses, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCRIPTS, "slow", answers("As an AI developed by Acme Labs I cannot say."))
    houses = house("quick", "slow")
    LanguageModel.objects.filter(pk="the-slow").update(organization="Acme Labs")
    counted, named = houses.open(visitor), houses.open(visitor)
    battles: dict[str, dict[str, Any]] = {}
    for battle_id in (named, counted):
        monkeypatch.setitem(SCRIPTS, "slow", answers("It is." if battle_id == counted else "I am from Acme Labs."))
        houses.play(visitor.send(battle_id, "Why?"))
        battles[battle_id] = visitor.battle(battle_id)
        assert visitor.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 201
    assert list(CountedVote.objects.values_list("vote__battle_id", flat=True)) == [counted]
    assert Battle.objects.get(battle_id=named).vote.vote == "tie"
    different = {key for key, value in battles[named].items() if value != battles[counted][key]}
    assert different <= {"battle_id", "session_id", "turns", "event_seq", "seq", "created_at"}  # nothing told it before


def contestant(**columns: str) -> LanguageModel:
    model: LanguageModel = TextModelFactory.build(**columns)
    return model


CONTESTANTS = (
    {"name": "Qwen 2.5 7B", "organization": "Alibaba Cloud", "served_name": "qwen2.5-7b-instruct"},
    {"name": "SmolLM2 135M, hot", "organization": "Hugging Face", "served_name": "SmolLM2-135M", "family": "smollm2"},
)


@pytest.mark.parametrize(
    "answer",
    [
        "I am Qwen, a helpful assistant.",
        "As Qwen2.5 I would say no.",
        "As an AI language model developed by OpenAI, I cannot.",
        "I was trained by a team at Google DeepMind.",
        "Ich bin ein Sprachmodell, das von Mistral AI entwickelt wurde.",
        "My name is Claude.",
        "hugging face made me",
        "I'm an assistant built by Alibaba.",
    ],
)
def test_names_of_contestants_and_sentences_about_oneself_are_found(answer: str) -> None:
    assert names_itself(answer, "Who are you?", [contestant(**columns) for columns in CONTESTANTS])


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("Compare Qwen and Llama.", "Qwen is smaller than Llama."),
        ("Who makes phones?", "Apple and Google do."),
        ("Write a poem.", "I am a falcon, made of wind."),
        ("What is hot?", "Fire is hot, and made by people."),
        ("Is it?", "I was made to help. Microsoft was founded in 1975."),
    ],
)
def test_what_the_prompt_names_or_others_made_is_no_name_of_ones_own(prompt: str, answer: str) -> None:
    assert not names_itself(answer, prompt, [contestant(**columns) for columns in CONTESTANTS])


def test_a_visitor_has_so_many_prompts_a_day(house: Houses, visitor: Visitor, settings: Any) -> None:
    settings.RATE_LIMITS = {"prompts": {"visitor": ((2, 86400),)}}
    houses = house("quick", "slow")
    battle_id = houses.open(visitor)
    houses.play(visitor.send(battle_id, "One"))
    assert visitor.post(f"battles/{battle_id}/again").status_code == 202
    refused = visitor.post(f"battles/{battle_id}/turns", {"instruction": "Three"})
    assert (refused.status_code, refused.json()["code"]) == (429, "throttled")
    assert int(refused.headers["Retry-After"]) > 3600
    assert Visitor().post("sessions/init", {"kind": "text"}).status_code == 201
