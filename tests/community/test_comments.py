"""Comments are off by default. Where they are on, those who are signed in write them, and moderators approve them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from arena.actions import hiding
from arena.models import Battle
from community import comments
from community.models import Comment
from tests.people import logged_in, moderator


def write(client: Client, battle: Battle, text: str = "The left one dropped it twice.") -> Any:
    return client.post(f"/b/{battle.battle_id}/comments", {"text": text})


def page_of(client: Client, battle: Battle) -> str:
    return client.get(f"/b/{battle.battle_id}").content.decode()


def test_they_are_off_unless_the_operator_turns_them_on(battle: Battle, author: User) -> None:
    comments.publish(comments.write(battle, author, "written before they were turned off"), moderator())
    client = logged_in(author)
    assert write(client, battle).status_code == 404
    page = page_of(client, battle)
    assert "Comments" not in page
    assert "written before" not in page


def test_a_comment_shows_once_a_moderator_has_approved_it(battle: Battle, author: User, comments_on: None) -> None:
    client = logged_in(author)
    assert write(client, battle)["Location"] == f"/b/{battle.battle_id}#comments"
    assert "dropped it twice" not in page_of(Client(), battle)
    own = page_of(client, battle)
    assert "dropped it twice" in own
    assert "Only you see it until a moderator approves it" in own
    comments.publish(Comment.objects.get(), moderator())
    assert "dropped it twice" in page_of(Client(), battle)
    assert "Ada" in page_of(Client(), battle)
    assert "ada@example.org" not in page_of(Client(), battle)


def test_a_hidden_comment_is_gone_for_everybody(battle: Battle, author: User, comments_on: None) -> None:
    comment = comments.write(battle, author, "rude words")
    comments.publish(comment, moderator())
    comments.hide(comment, User.objects.get(username="moderator"), "an insult")
    assert "rude words" not in page_of(Client(), battle)
    assert "rude words" not in page_of(logged_in(author), battle)


def test_only_those_who_are_signed_in_may_write(battle: Battle, comments_on: None, settings: Any) -> None:
    settings.LOGIN_URL = "/sign-in/"
    page = page_of(Client(), battle)
    assert f'href="/sign-in/?next=%2Fb%2F{battle.battle_id}"' in page
    assert "<textarea" not in page.partition('id="comments"')[2]
    sent = write(Client(), battle)
    assert sent.status_code == 302
    assert sent["Location"].startswith("/sign-in/?next=")
    assert not Comment.objects.exists()


def test_markup_in_a_comment_is_text(battle: Battle, author: User, comments_on: None) -> None:
    comments.publish(comments.write(battle, author, "<script>alert(1)</script>\nsecond line"), moderator())
    page = page_of(Client(), battle)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br>second line" in page


@pytest.mark.parametrize("text", ["", "   ", "x" * 1001, "nul\0"])
def test_a_comment_that_cannot_be_kept_is_refused(battle: Battle, author: User, comments_on: None, text: str) -> None:
    refused = write(logged_in(author), battle, text)
    assert refused.status_code == 422
    assert "Your comment was not sent" in refused.content.decode()
    assert not Comment.objects.exists()


def test_comments_are_limited(battle: Battle, author: User, comments_on: None, settings: Any) -> None:
    settings.RATE_LIMITS = {"comments": {"address": ((1, 60),)}}
    client = logged_in(author)
    assert write(client, battle).status_code == 302
    assert write(client, battle).status_code == 429


def test_nobody_comments_on_a_hidden_battle(battle: Battle, author: User, comments_on: None) -> None:
    hiding.hide_battle(battle, moderator(), "an insult")
    assert write(logged_in(author), battle).status_code == 410


def test_an_author_takes_a_comment_back_and_nobody_elses(battle: Battle, author: User, comments_on: None) -> None:
    comment = comments.write(battle, author, "too hasty")
    other = User.objects.create_user("eve", password="a long password")
    address = f"/comments/{comment.pk}/delete"
    for client in (Client(), logged_in(other), logged_in(moderator())):
        assert client.post(address).status_code == 404
    assert logged_in(author).get(address).status_code == 405
    assert logged_in(author).post(address).status_code == 302
    assert not Comment.objects.exists()


def test_somebody_without_a_name_is_a_visitor(battle: Battle, comments_on: None) -> None:
    nameless = User.objects.create_user("secret-login", password="a long password")
    comments.publish(comments.write(battle, nameless, "hello"), moderator())
    page = page_of(Client(), battle)
    assert "a visitor" in page
    assert "secret-login" not in page


def test_deleting_an_account_deletes_its_comments(battle: Battle, author: User) -> None:
    comments.write(battle, author, "mine")
    author.delete()
    assert not Comment.objects.exists()
