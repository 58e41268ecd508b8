"""Operators look at games in the admin, and find the page there on which they hand in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from tests.people import logged_in, moderator, operator

pytestmark = pytest.mark.django_db
PAGE = "/admin/wormarena/game/hand-in/"


def test_an_operator_gets_the_page_from_the_list_of_games(games: Path) -> None:
    client = logged_in(operator())
    assert PAGE in client.get("/admin/wormarena/game/").content.decode()
    page = client.get(PAGE).content.decode()
    assert 'action="/api/wormarena/games"' in page
    assert "csrfmiddlewaretoken" in page


def test_games_are_looked_at_and_never_edited(games: Path) -> None:
    client = logged_in(operator())
    page = client.get("/admin/wormarena/game/g-1/change/").content.decode()
    assert 'href="/wormarena/games/g-1"' in page
    assert 'name="_save"' not in page
    assert client.get("/admin/wormarena/game/add/").status_code == 403
    assert client.get("/admin/wormarena/game/?q=gamma").content.decode().count("field-game_id") == 1


def test_nobody_else_hands_files_in(client: Client, games: Path) -> None:
    assert client.get(PAGE).status_code == 302
    assert logged_in(moderator()).get(PAGE).status_code == 403
