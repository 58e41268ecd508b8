"""The pages as the server writes them, before any script runs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string
from django.test import Client

from arena.models import Session, Vote
from simulation import catalogue
from tests.factories import BattleFactory, PolicyFactory, VoteFactory

pytestmark = pytest.mark.django_db


def test_the_first_page_says_what_this_is_and_what_is_true_of_it_now(client: Client) -> None:
    VoteFactory()
    page = client.get("/").content.decode()
    assert "Tell two robots the same thing." in page
    assert '<dd data-figure="votes">1</dd>' in page
    assert '<dd data-figure="robots">2</dd>' in page
    assert f'<dd data-figure="tasks">{len(catalogue.offered_tasks())}</dd>' in page
    assert 'href="/battle"' in page
    assert f'href="/b/{Vote.objects.get().battle_id}"' in page


def test_the_battle_page_offers_the_catalogues_suggestions_and_every_suggested_task(client: Client) -> None:
    page = client.get("/battle").content.decode()
    for text in catalogue.scene("table").suggestions:
        assert f'data-suggestion="{text}"' in page
    for task in catalogue.suggested_tasks():
        assert (task.description in page) == (task.scene_id == "table")


def test_rendering_the_battle_page_stores_nothing_and_knows_nobody(client: Client) -> None:
    answer = client.get("/battle")
    assert not Session.objects.exists()
    assert answer.cookies == {}


def test_no_page_holds_inline_scripts_or_styles(client: Client) -> None:
    for path in ("/", "/battle", "/leaderboard", "/models", "/battle/battle_unknown"):
        page = client.get(path).content.decode()
        assert "<style" not in page
        assert " style=" not in page
        assert page.count("<script") == page.count('<script type="module" src=') + page.count('<script src="/strings/')
        assert "onclick" not in page


def test_an_unknown_battle_is_a_page_that_says_so(client: Client) -> None:
    answer = client.get("/battle/battle_" + "0" * 32)
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()


def test_a_battle_opens_at_its_address_for_its_owner_and_nobody_else(client: Client) -> None:
    PolicyFactory.create_batch(2)
    opened = client.post(
        "/api/sessions/init", {"robot_id": "widowx", "scene_id": "table"}, content_type="application/json"
    )
    battle_id = opened.json()["battle_id"]
    own = client.get(f"/battle/{battle_id}")
    assert own.status_code == 200
    assert f'data-battle="{battle_id}"' in own.content.decode()
    assert Client().get(f"/battle/{battle_id}").status_code == 404


def test_the_battle_page_is_the_same_text_for_every_battle(client: Client) -> None:
    PolicyFactory.create_batch(2)
    pages = set()
    for _ in range(2):
        opened = client.post(
            "/api/sessions/init", {"robot_id": "widowx", "scene_id": "table"}, content_type="application/json"
        )
        battle_id = opened.json()["battle_id"]
        pages.add(client.get(f"/battle/{battle_id}").content.decode().replace(battle_id, ""))
    assert len(pages) == 1


def test_what_the_battle_pages_of_all_kinds_share_names_no_robot() -> None:
    page = render_to_string("arena/battle.html", {"kind": SimpleNamespace(address="battle", reasons={})})
    shared = page[page.index('<div id="battle"') : page.index("<footer")]
    assert 'data-part="vote-buttons"' in shared
    assert "robot" not in shared.casefold()


def test_a_leaderboard_that_nobody_voted_on_invites_to_vote(client: Client) -> None:
    page = client.get("/leaderboard").content.decode()
    assert "No model is ranked yet" in page
    assert "nothing has been counted yet" in page


def test_the_leaderboard_writes_what_was_searched_for_as_text(client: Client) -> None:
    page = client.get("/leaderboard", {"search": '"><script>alert(1)</script>'}).content.decode()
    assert "<script>alert" not in page


def test_a_voted_battle_has_a_page_for_everybody_and_one_without_a_vote_has_none(client: Client) -> None:
    voted = VoteFactory().battle.battle_id
    shared = client.get(f"/b/{voted}")
    assert shared.status_code == 200
    assert "data-shared" in shared.content.decode()
    for address in (BattleFactory().battle_id, "battle_" + "0" * 32, "nonsense"):
        assert client.get(f"/b/{address}").status_code == 404
