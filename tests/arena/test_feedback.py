"""After the vote its visitor may add reasons, a sentence and the progress of each side, stored apart from the vote."""

from __future__ import annotations

from typing import Any

import pytest

from arena.models import Feedback, Vote
from tests.arena.conftest import Visitor, cast, play_battle
from tests.fakes import FakeRuntime
from tests.people import logged_in, moderator

WHOLE = {"reasons": {"closer": "left"}, "why": "The left one did not drop it.", "progress": {"left": 80, "right": 20}}


@pytest.fixture
def voted(visitor: Visitor, runtime: FakeRuntime) -> str:
    battle_id = play_battle(visitor)
    cast(visitor, battle_id)
    return battle_id


def put(visitor: Visitor, battle_id: str, body: Any) -> Any:
    return visitor.client.put(f"/api/battles/{battle_id}/feedback", body, content_type="application/json")


def test_what_is_added_is_stored_apart_from_the_vote_and_comes_back(visitor: Visitor, voted: str) -> None:
    before = visitor.get(f"battles/{voted}/feedback").json()
    nothing = dict.fromkeys(("closer", "smoother", "safer", "faster"))
    empty = {"reasons": nothing, "why": "", "progress": {"left": None, "right": None}}
    assert before == {"battle_id": voted, **empty, "updated_at": None}
    answer = put(visitor, voted, WHOLE)
    assert answer.status_code == 200, answer.content
    after = visitor.get(f"battles/{voted}/feedback").json()
    assert after == answer.json()
    assert {name: after[name] for name in ("why", "progress")} == {name: WHOLE[name] for name in ("why", "progress")}
    assert after["reasons"] == {**nothing, "closer": "left"}
    assert after["updated_at"] is not None
    assert Vote.objects.get().reasons == {}, "the vote stays as it was cast"


def test_the_same_twice_is_stored_once_and_another_replaces_all_of_it(visitor: Visitor, voted: str) -> None:
    for _ in range(2):
        assert put(visitor, voted, WHOLE).status_code == 200
    assert Feedback.objects.count() == 1
    assert put(visitor, voted, {"why": "Too fast."}).status_code == 200
    left = Feedback.objects.get()
    assert (left.reasons, left.why, left.left_progress, left.right_progress) == ({}, "Too fast.", None, None)


def test_before_the_vote_it_is_refused_alike_whatever_it_says(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    for refused in (visitor.get(f"battles/{battle_id}/feedback"), put(visitor, battle_id, WHOLE)):
        assert (refused.status_code, refused.json()["code"]) == (409, "not_voted")
        assert "vote first" in refused.json()["detail"]
    assert not Feedback.objects.exists()


def test_nobody_else_reads_or_writes_it_and_no_public_page_shows_it(visitor: Visitor, voted: str) -> None:
    assert put(visitor, voted, WHOLE).status_code == 200
    stranger = Visitor()
    stranger.open()
    assert stranger.get(f"battles/{voted}/feedback").status_code == 404
    assert put(stranger, voted, {"why": "Mine."}).status_code == 404
    staff = logged_in(moderator())
    assert staff.get(f"/api/battles/{voted}/feedback").status_code == 404
    assert Feedback.objects.get().why == WHOLE["why"]
    for address in (f"/api/shared/{voted}", f"/b/{voted}", f"/api/battles/{voted}/effect"):
        assert str(WHOLE["why"]) not in stranger.client.get(address).content.decode()


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ({"reasons": {"nicer": "left"}}, "invalid_reasons", "closer"),
        ({"reasons": {"closer": "both"}}, "invalid_reasons", "equal"),
        ({"why": 5}, "invalid_why", "text"),
        ({"why": ["so"]}, "invalid_why", "text"),
        ({"why": "x" * 501}, "invalid_why", "500"),
        ({"why": "a\x00b"}, "invalid_why", "printable"),
        ({"why": "a‮b"}, "invalid_why", "printable"),
        ({"progress": {"left": 101}}, "invalid_progress", "0 to 100"),
        ({"progress": {"left": -1}}, "invalid_progress", "0 to 100"),
        ({"progress": {"left": 5.5}}, "invalid_progress", "whole number"),
        ({"progress": {"left": True}}, "invalid_progress", "whole number"),
        ({"progress": {"left": "50"}}, "invalid_progress", "whole number"),
        ({"progress": {"middle": 5}}, "invalid_progress", "left and right"),
        ({"progress": 50}, "invalid_progress", "left and right"),
        ({"vote": "tie"}, "unknown_field", "progress, reasons, why"),
    ],
)
def test_what_it_cannot_say_is_refused_with_what_would_have_been_right(
    visitor: Visitor, voted: str, body: Any, code: str, says: str
) -> None:
    assert put(visitor, voted, WHOLE).status_code == 200
    refused = put(visitor, voted, body)
    assert (refused.status_code, refused.json()["code"]) == (422, code)
    assert says in refused.json()["detail"]
    assert Feedback.objects.get().why == WHOLE["why"], "what was there stays"


def test_lines_become_one_and_markup_stays_plain_text(visitor: Visitor, voted: str) -> None:
    assert put(visitor, voted, {"why": "  It fell.\r\n\tTwice, <b>hard</b>.  "}).status_code == 200
    assert Feedback.objects.get().why == "It fell. Twice, <b>hard</b>."


def test_staff_read_it_in_the_admin_and_cannot_change_it(visitor: Visitor, voted: str) -> None:
    assert put(visitor, voted, {**WHOLE, "why": "<script>alert(1)</script>"}).status_code == 200
    staff = logged_in(moderator())
    page = staff.get("/admin/arena/feedback/").content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page
    assert staff.post(f"/admin/arena/feedback/{Feedback.objects.get().pk}/delete/", {"post": "yes"}).status_code == 403


def test_too_many_changes_are_refused_for_a_while(visitor: Visitor, voted: str, settings: Any) -> None:
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "feedback": {"visitor": ((2, 60),)}}
    for _ in range(2):
        assert put(visitor, voted, WHOLE).status_code == 200
    assert put(visitor, voted, WHOLE).status_code == 429
