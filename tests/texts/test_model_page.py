"""A page for each language model, to which boards and reveals link by name."""

from __future__ import annotations

import pytest
from django.test import Client

from arena import kinds
from tests.factories import BattleFactory, SessionFactory, TextModelFactory, VoteFactory
from texts.models import LanguageModel

pytestmark = pytest.mark.django_db


def page_of(client: Client, model: LanguageModel) -> str:
    answer = client.get(kinds.get("text").contestant_address(model.pk) or "")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_model_says_what_it_is_and_how_it_decodes(client: Client) -> None:
    model = TextModelFactory(
        name="Small, cool",
        description="Short answers",
        provenance="Instruct tuned",
        served_name="small-135m",
        temperature=0.2,
        max_tokens=160,
        license="Apache-2.0",
    )
    page = page_of(client, model)
    for told in ("Small, cool", "Short answers", "Instruct tuned", "small-135m", "0.2", "160 tokens", "Apache-2.0"):
        assert told in page
    assert "It has no votes yet" in page


def test_its_battles_are_told_from_its_side(client: Client) -> None:
    hero, rival = TextModelFactory(name="Hero"), TextModelFactory(name="Rival")
    sides = {"left_model": rival, "right_model": hero}
    battle = BattleFactory(session=SessionFactory(kind="text"), status="voted", **sides)
    won = VoteFactory(battle=battle, vote="right_better")
    page = page_of(client, hero)
    assert f'href="/b/{won.battle_id}"' in page
    assert "result-won" in page
    assert "against Rival" in page
    assert "result-lost" in page_of(client, rival)


def test_why_a_model_does_not_play_is_said_and_nothing_of_where_its_server_is(client: Client) -> None:
    model = TextModelFactory(base_url="http://gpu-1:8000/v1", key_variable="VLLM_API_KEY", system_prompt="Be brief.")
    model.mark_unavailable("its server does not answer")
    page = page_of(client, model)
    assert "unavailable" in page
    assert "its server does not answer" in page
    assert not [secret for secret in ("gpu-1", "VLLM_API_KEY", "Be brief.") if secret in page]


@pytest.mark.parametrize("name", ["nobody", "alpha"])
def test_what_is_no_language_model_has_no_page_here(client: Client, name: str) -> None:
    assert client.get(f"/text/models/{name}").status_code == 404
