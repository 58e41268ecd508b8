"""The page of text battles as the server sends it, and the way to it."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_navigation_leads_to_text_battles_and_marks_where_one_is(client: Client) -> None:
    assert '<a href="/text" >Text</a>' in client.get("/leaderboard").content.decode()
    page = client.get("/text").content.decode()
    assert '<a href="/text" aria-current="page">Text</a>' in page
    assert '<a href="/battle" >Battle</a>' in page


def test_the_box_has_lines_starters_by_category_and_a_word_about_personal_data(client: Client) -> None:
    page = client.get("/text").content.decode()
    assert '<textarea id="instruction" name="instruction"' in page
    assert "no personal data, please" in page
    for category, starter in (("Code", "undo the last commit"), ("Plan", "packing list")):
        assert f"<summary>{category}</summary>" in page
        assert starter in page


def test_robots_keep_their_box_of_one_line(client: Client) -> None:
    page = client.get("/battle").content.decode()
    assert '<input id="instruction" name="instruction" type="text"' in page
    assert "no personal data, please" not in page
