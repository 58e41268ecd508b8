"""Whose battle it is: the signed cookie, ownership, and calls that other sites try to make (P-SE-01..04)."""

from __future__ import annotations

import uuid

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client

from arena.models import Session
from arena.visitors import cookies
from tests.arena.conftest import Visitor, play_battle, side_of
from tests.fakes import FakeRuntime
from tests.people import logged_in, moderator


def test_the_cookie_is_signed_http_only_lax_and_kept_for_a_year(visitor: Visitor) -> None:
    visitor.open()
    cookie = visitor.client.cookies[cookies.COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert cookie["max-age"] == 365 * 24 * 3600
    visitor_id = signing.loads(cookie.value, salt=cookies.SALT)
    assert str(uuid.UUID(visitor_id)) == Session.objects.get().user_id


def test_over_https_the_cookie_is_for_https_alone(visitor: Visitor) -> None:
    opened = visitor.client.post("/api/sessions/init", {}, content_type="application/json", secure=True)
    assert opened.cookies[cookies.COOKIE]["secure"]


def test_the_same_visitor_keeps_one_identity_over_sessions(visitor: Visitor) -> None:
    visitor.open()
    visitor.open()
    assert Session.objects.values("user_id").distinct().count() == 1


@pytest.mark.parametrize(
    "forged",
    ["", "nonsense", str(uuid.UUID(int=7)), pytest.param(signing.dumps("x", salt=cookies.SALT), id="no-uuid"), "é;"],
)
def test_a_cookie_that_we_did_not_sign_is_no_identity(visitor: Visitor, forged: str) -> None:
    battle_id = visitor.open()
    other = Visitor()
    other.client.cookies[cookies.COOKIE] = forged
    assert other.get(f"battles/{battle_id}").status_code == 404
    assert other.open() != battle_id


def test_what_belongs_to_another_visitor_does_not_exist(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    snapshot = visitor.battle(battle_id)
    turn, session_id = snapshot["turns"][0], snapshot["session_id"]
    stranger = Visitor()
    stranger.open()
    for reader in (stranger, Visitor()):
        for address in (
            f"battles/{battle_id}",
            f"sessions/{session_id}",
            f"battles/session/{session_id}",
            f"turns/{turn['turn_id']}",
            f"episodes/{turn['left']['episode_id']}",
            f"episodes/{turn['left']['episode_id']}/view.bin",
            f"episodes/{turn['left']['episode_id']}/states.bin",
            f"episodes/{turn['left']['episode_id']}/replay.bin",
        ):
            refused = reader.get(address)
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), address
        for address, body in (
            (f"battles/{battle_id}/turns", {"instruction": "wave"}),
            (f"sessions/{session_id}/battles", {}),
            ("battles", {"session_id": session_id}),
            ("votes", {"battle_id": battle_id, "vote": "tie"}),
        ):
            refused = reader.post(address, body)
            assert (refused.status_code, refused.json()["code"]) == (404, "not_found"), address
    assert visitor.battle(battle_id) == snapshot


def test_a_moderator_may_look_at_any_battle_but_not_act_in_it(visitor: Visitor, runtime: FakeRuntime) -> None:
    battle_id = play_battle(visitor)
    staff = Visitor(logged_in(moderator()))
    assert staff.battle(battle_id) == visitor.battle(battle_id)
    assert staff.get(f"episodes/{side_of(battle_id, 'left').episode_id}").status_code == 200
    assert staff.post("votes", {"battle_id": battle_id, "vote": "tie"}).status_code == 404


def test_own_sessions_come_newest_activity_first_with_their_first_instruction(
    visitor: Visitor, runtime: FakeRuntime
) -> None:
    first, second = visitor.open(), visitor.open()
    visitor.send(first, "pick up the red cube")
    listed = visitor.get("sessions/?mine").json()["results"]
    assert [row["last_battle_id"] for row in listed] == [first, second]
    assert [row["title"] for row in listed] == ["pick up the red cube", None]
    assert [row["battle_count"] for row in listed] == [1, 1]
    own_id = listed[0]["user_id"]
    assert visitor.get(f"sessions/user/{own_id}").json()["results"] == listed
    assert visitor.get("sessions/user/me").json()["results"] == listed
    assert Visitor().get(f"sessions/user/{own_id}").status_code == 404
    assert visitor.get(f"sessions/user/{uuid.uuid4()}").status_code == 404
    assert Visitor().get("sessions/?mine").json() == {"results": []}


def test_a_client_without_cookies_or_tokens_may_open_a_session(contestants: list[object]) -> None:
    careful = Client(enforce_csrf_checks=True)
    opened = careful.post("/api/sessions/init", {"robot_id": "widowx"}, content_type="application/json")
    assert opened.status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://testserver.elsewhere.example"},
        {"Referer": "https://elsewhere.example/testserver/"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_another_sites_page_can_change_nothing(visitor: Visitor, headers: dict[str, str]) -> None:
    battle_id = visitor.open()
    before = visitor.battle(battle_id)
    for address, body in (
        ("sessions/init", {}),
        (f"battles/{battle_id}/turns", {"instruction": "wave"}),
        (f"sessions/{before['session_id']}/battles", {}),
        ("votes", {"battle_id": battle_id, "vote": "tie"}),
    ):
        refused = visitor.post(address, body, **headers)
        assert (refused.status_code, refused.json()["code"]) == (403, "cross_site")
    assert visitor.battle(battle_id) == before


def test_our_own_page_and_trusted_origins_pass(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "CSRF_TRUSTED_ORIGINS", ["https://arena.example"])
    for headers in (
        {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "https://arena.example"},
        {"Referer": "http://testserver/battle"},
    ):
        assert visitor.post("sessions/init", {}, **headers).status_code == 201


def test_a_form_of_another_site_is_no_json_and_is_refused(visitor: Visitor) -> None:
    battle_id = visitor.open()
    refused = visitor.client.post("/api/votes", {"battle_id": battle_id, "vote": "tie"})
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported_media_type")


def test_a_moderator_who_is_logged_in_plays_without_a_token(contestants: list[object]) -> None:
    client = logged_in(moderator(), enforce_csrf_checks=True)
    assert client.post("/api/sessions/init", {}, content_type="application/json").status_code == 201
