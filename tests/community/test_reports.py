"""Anybody may report what is public; each report waits for a moderator once."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from arena.actions import hiding
from arena.models import Battle, Turn
from community import comments
from community.models import Report
from tests.arena.conftest import Visitor, play_battle
from tests.factories import BattleFactory
from tests.fakes import FakeRuntime
from tests.people import moderator


def report(client: Client, battle: Battle, **fields: str) -> Any:
    return client.post(f"/b/{battle.battle_id}/report", {"about": "battle", "reason": "abuse", **fields})


def test_a_shared_battle_has_a_way_to_report_it(battle: Battle) -> None:
    page = Client().get(f"/b/{battle.battle_id}").content.decode()
    assert f'href="/b/{battle.battle_id}/report"' in page


def test_a_stranger_reports_a_battle_and_is_thanked(battle: Battle) -> None:
    stranger = Client()
    sent = report(stranger, battle, text="It names my neighbour.")
    assert (sent.status_code, sent["Location"]) == (302, f"/b/{battle.battle_id}/reported")
    assert "a moderator will look at it" in stranger.get(sent["Location"]).content.decode()
    row = Report.objects.get()
    assert (row.what, row.battle, row.reason, row.text, row.state) == (
        "battle",
        battle,
        "abuse",
        "It names my neighbour.",
        "open",
    )


def test_an_instruction_is_reported_by_its_text(battle: Battle, turn: Turn) -> None:
    assert turn.instruction in Client().get(f"/b/{battle.battle_id}/report").content.decode()
    report(Client(), battle, about=turn.turn_id)
    row = Report.objects.get()
    assert (row.what, row.turn) == ("instruction", turn)


def test_a_hidden_instruction_is_not_offered_again(battle: Battle, turn: Turn) -> None:
    hiding.hide_instruction(turn, moderator(), "an insult")
    assert turn.instruction not in Client().get(f"/b/{battle.battle_id}/report").content.decode()
    assert report(Client(), battle, about=turn.turn_id).status_code == 422


def test_a_comment_is_reported_where_it_stands(battle: Battle, author: User, comments_on: None) -> None:
    comment = comments.write(battle, author, "You are all fools")
    address = f"/b/{battle.battle_id}/comments/{comment.pk}/report"
    assert Client().get(address).status_code == 404, "nobody sees it yet"
    comments.publish(comment, moderator())
    assert address in Client().get(f"/b/{battle.battle_id}").content.decode()
    assert "You are all fools" in Client().get(address).content.decode()
    assert Client().post(address, {"reason": "abuse"}).status_code == 302
    assert Report.objects.get().comment == comment


def test_a_second_report_of_the_same_visitor_replaces_the_first(visitor: Visitor, battle: Battle) -> None:
    visitor.open()  # now it has a cookie
    report(visitor.client, battle)
    report(visitor.client, battle, reason="spam")
    report(Client(), battle)
    assert sorted(Report.objects.values_list("reason", flat=True)) == ["abuse", "spam"]


def test_a_report_keeps_neither_cookie_nor_address(visitor: Visitor, battle: Battle) -> None:
    visitor.open()
    own = visitor.get("sessions/?mine").json()["results"][0]["user_id"]
    report(visitor.client, battle)
    kept = str(Report.objects.values().get())
    assert own not in kept
    assert "127.0.0.1" not in kept


def test_an_empty_form_says_what_is_missing(battle: Battle) -> None:
    refused = Client().post(f"/b/{battle.battle_id}/report", {})
    assert refused.status_code == 422
    assert "This field is required" in refused.content.decode()
    assert not Report.objects.exists()


def test_what_is_not_shared_cannot_be_reported(visitor: Visitor, runtime: FakeRuntime) -> None:
    for battle_id in (play_battle(visitor), "battle_" + "0" * 32, "nonsense"):
        for address in (f"/b/{battle_id}/report", f"/b/{battle_id}/reported"):
            assert visitor.client.get(address).status_code == 404


def test_a_hidden_battle_cannot_be_reported_once_more(battle: Battle) -> None:
    hiding.hide_battle(battle, moderator(), "an insult")
    assert Client().get(f"/b/{battle.battle_id}/report").status_code == 410
    assert report(Client(), battle).status_code == 410


def test_reports_are_limited(battle: Battle, settings: Any) -> None:
    settings.RATE_LIMITS = {"reports": {"address": ((1, 60),)}}
    assert report(Client(), battle).status_code == 302
    refused = report(Client(), battle, text="once more")
    assert refused.status_code == 429
    assert "a lot in a short time" in refused.content.decode()
    assert "once more" in refused.content.decode(), "what was typed is kept"


def test_a_page_of_another_site_cannot_report_for_a_visitor(battle: Battle) -> None:
    assert report(Client(enforce_csrf_checks=True), battle).status_code == 403


@pytest.mark.parametrize("text", ["x" * 1001, "nul\0"])
def test_a_text_that_cannot_be_kept_is_refused(battle: Battle, text: str) -> None:
    assert report(Client(), battle, text=text).status_code == 422
    assert not Report.objects.exists()


def test_a_report_about_an_unvoted_battle_is_impossible(db: None) -> None:
    battle = BattleFactory()
    assert report(Client(), battle).status_code == 404
