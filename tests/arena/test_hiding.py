"""Moderators hide battles and instructions. The public no longer sees them; the vote counts as before."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from arena.actions import hiding
from arena.errors import ReasonMissing
from arena.models import Battle, Turn, Vote
from rankings.models import CountedVote, ModerationAct
from tests.arena.conftest import Visitor, battle_row, cast, play_battle
from tests.fakes import FakeRuntime
from tests.people import logged_in, moderator, operator

INSULT = "pick up the rude word"
NEUTRAL = "[hidden by a moderator]"


@pytest.fixture
def voted(visitor: Visitor, runtime: FakeRuntime) -> str:
    battle_id = play_battle(visitor, INSULT)
    cast(visitor, battle_id, "left_better")
    return battle_id


def addresses_of(visitor: Visitor, battle_id: str) -> list[str]:
    episode_id = visitor.battle(battle_id)["turns"][0]["left"]["episode_id"]
    episode = [f"/api/episodes/{episode_id}{form}" for form in ("", "/view.bin", "/states.bin", "/replay.bin")]
    return [f"/b/{battle_id}", f"/api/shared/{battle_id}", f"/api/battles/{battle_id}/effect", *episode]


def test_a_hidden_battle_is_gone_for_the_public(visitor: Visitor, voted: str) -> None:
    addresses, stranger = addresses_of(visitor, voted), Client()
    assert [stranger.get(address).status_code for address in addresses] == [200] * len(addresses)
    hiding.hide_battle(battle_row(voted), moderator(), "an insult")
    assert [stranger.get(address).status_code for address in addresses] == [410] * len(addresses)
    assert stranger.get(f"/api/shared/{voted}").json() == {
        "code": "battle_hidden",
        "detail": "A moderator hid this battle.",
    }
    page = stranger.get(f"/b/{voted}").content.decode()
    assert "A moderator hid this battle." in page
    assert INSULT not in page


def test_its_visitor_and_staff_still_see_it_with_a_notice(visitor: Visitor, voted: str) -> None:
    addresses, staff = addresses_of(visitor, voted), moderator()
    hiding.hide_battle(battle_row(voted), staff, "an insult")
    for client in (visitor.client, logged_in(staff)):
        assert [client.get(address).status_code for address in addresses] == [200] * len(addresses)
        for page in (f"/b/{voted}", f"/battle/{voted}"):
            shown = client.get(page).content.decode()
            assert "only you and the moderators can see it" in shown
            assert "an insult" not in shown, "the reason is for moderators"


def test_no_list_shows_a_hidden_battle(visitor: Visitor, voted: str) -> None:
    stranger = Client()
    pages = ["/", "/models/alpha", "/models/beta"]
    assert all(voted in stranger.get(page).content.decode() for page in pages)
    assert [battle.battle_id for battle in Battle.objects.public()] == [voted]
    hiding.hide_battle(battle_row(voted), moderator(), "an insult")
    assert not any(voted in stranger.get(page).content.decode() for page in pages)
    assert not Battle.objects.public()


def test_shown_again_it_is_public_as_before(visitor: Visitor, voted: str) -> None:
    staff, before = moderator(), Client().get(f"/api/shared/{voted}").json()
    hiding.hide_battle(battle_row(voted), staff, "an insult")
    assert hiding.show_battle(battle_row(voted), staff, "a mistake")
    assert Client().get(f"/api/shared/{voted}").json() == before
    assert battle_row(voted).hidden_reason == ""


def test_hiding_changes_nothing_that_counts(visitor: Visitor, voted: str) -> None:
    vote = Vote.objects.get(battle__battle_id=voted)
    before = CountedVote.objects.filter(vote=vote).values().get()
    hiding.hide_battle(battle_row(voted), moderator(), "an insult")
    assert CountedVote.objects.filter(vote=vote).values().get() == before
    assert not battle_row(voted).spoiled


def test_a_hidden_instruction_is_replaced_wherever_the_public_reads_it(visitor: Visitor, voted: str) -> None:
    stranger, turn = Client(), Turn.objects.get(battle__battle_id=voted)
    episode = visitor.battle(voted)["turns"][0]["left"]["episode_id"]
    public = [f"/api/shared/{voted}", f"/api/episodes/{episode}", "/models/alpha", "/", f"/b/{voted}"]
    assert any(INSULT in stranger.get(address).content.decode() for address in public)
    hiding.hide_instruction(turn, moderator(), "an insult")
    assert not any(INSULT in stranger.get(address).content.decode() for address in public)
    assert stranger.get(f"/api/shared/{voted}").json()["turns"][0]["instruction"] == NEUTRAL
    assert stranger.get(f"/api/episodes/{episode}").json()["instruction"] == NEUTRAL
    assert NEUTRAL in stranger.get("/models/alpha").content.decode()
    assert visitor.battle(voted)["turns"][0]["instruction"] == INSULT, "whoever wrote it may read it"


def test_all_starts_of_an_instruction_are_hidden_and_shown_together(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id, staff = visitor.open(), moderator()
    visitor.send(battle_id, INSULT, starts=3)
    turns = Turn.objects.filter(battle__battle_id=battle_id)
    hiding.hide_instruction(turns[1], staff, "an insult")
    assert [turn.instruction_hidden_at is None for turn in turns.all()] == [False] * 3
    hiding.show_instruction(turns[0], staff, "no insult")
    assert [turn.instruction_hidden_at is None for turn in turns.all()] == [True] * 3


def test_each_act_is_in_the_history_and_in_the_audit_log(visitor: Visitor, voted: str) -> None:
    staff, battle = moderator(), battle_row(voted)
    turn = Turn.objects.get(battle=battle)
    assert hiding.hide_battle(battle, staff, " an insult ")
    assert hiding.hide_instruction(turn, staff, "a name")
    assert not hiding.hide_battle(battle, staff, "once more"), "hidden already: nothing to log"
    acts = list(ModerationAct.objects.order_by("pk").values_list("action", "subject", "reason", "moderator_name"))
    assert acts == [
        ("hide_battle", voted, "an insult", "moderator"),
        ("hide_instruction", turn.turn_id, "a name", "moderator"),
    ]
    entry = LogEntry.objects.get(object_id=str(battle.pk), content_type__model="battle")
    assert (entry.user, entry.change_message) == (staff, "Hide battle: an insult")


@pytest.mark.parametrize("reason", ["", "  ", "nul\0"])
def test_nothing_is_hidden_without_a_reason(visitor: Visitor, voted: str, reason: str) -> None:
    with pytest.raises(ReasonMissing):
        hiding.hide_battle(battle_row(voted), moderator(), reason)
    assert battle_row(voted).hidden_at is None


def test_a_moderator_hides_and_shows_it_on_its_admin_page(visitor: Visitor, voted: str) -> None:
    client, battle = logged_in(moderator()), battle_row(voted)
    address = f"/admin/arena/battle/{battle.pk}/hide/"
    assert address in client.get(f"/admin/arena/battle/{battle.pk}/change/").content.decode()
    assert b"Hide it" in client.get(address).content
    assert client.post(address, {"reason": "", "hide": "Hide it"}).status_code == 200
    assert battle_row(voted).hidden_at is None
    assert client.post(address, {"reason": "an insult", "hide": "Hide it"}).status_code == 302
    hidden = battle_row(voted)
    assert (hidden.hidden_at is not None, hidden.hidden_by.username, hidden.hidden_reason) == (
        True,
        "moderator",
        "an insult",
    )
    assert client.post(address, {"reason": "a mistake", "show": "Show it again"}).status_code == 302
    assert battle_row(voted).hidden_at is None


def test_a_moderator_hides_an_instruction_of_an_open_battle_and_learns_no_name(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    battle_id = play_battle(visitor, INSULT)
    client, turn = logged_in(moderator()), Turn.objects.get(battle__battle_id=battle_id)
    address = f"/admin/arena/turn/{turn.pk}/hide/"
    told = client.get(address).content + client.get(f"/admin/arena/turn/{turn.pk}/change/").content
    assert not any(name in told for name in (b"alpha", b"beta"))
    assert client.post(address, {"reason": "an insult", "hide": "Hide it"}).status_code == 302
    turn.refresh_from_db()
    assert turn.instruction_hidden_at is not None


def test_an_operator_hides_nothing(visitor: Visitor, voted: str) -> None:
    client, battle = logged_in(operator()), battle_row(voted)
    assert client.post(f"/admin/arena/battle/{battle.pk}/hide/", {"reason": "x", "hide": "x"}).status_code == 403
    assert b"/hide/" not in client.get(f"/admin/arena/battle/{battle.pk}/change/").content
    assert battle_row(voted).hidden_at is None
