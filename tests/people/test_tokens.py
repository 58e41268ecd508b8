"""API tokens: a program acts for its owner within the token's scope, without cookies, until the token is revoked."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.http import HttpResponse
from django.test import Client

from people import tokens
from people.models import Token
from people.token_access import TokenSockets
from people.tokens import BEGINNING, MOST, PLAY, READ, STAFF
from tests.people import logged_in, moderator, operator
from tests.people.conftest import Person, account_of

pytestmark = pytest.mark.django_db
BATTLE = {"robot_id": "widowx", "scene_id": "table"}


@pytest.fixture
def person(contestants: None) -> Person:
    made = Person()
    made.sign_up()
    return made


def token_of(person: Person, *scopes: str) -> str:
    return tokens.issue(account_of(person).user, "mine", scopes)[1]


class Program:
    """Calls with a token from a program that has no cookie and checks CSRF as for a browser."""

    def __init__(self, token: str, scheme: str = "Bearer") -> None:
        self.client = Client(enforce_csrf_checks=True, headers={"Authorization": f"{scheme} {token}"})

    def get(self, path: str) -> HttpResponse:
        return self.client.get(f"/api/{path}")

    def post(self, path: str, body: Any, **headers: str) -> HttpResponse:
        return self.client.post(f"/api/{path}", json.dumps(body), content_type="application/json", headers=headers)


def said(response: HttpResponse) -> tuple[int, Any]:
    told = json.loads(response.content)
    return response.status_code, told.get("code", told)


def test_a_token_is_shown_once_and_only_its_hash_is_kept(person: Person) -> None:
    shown = person.page("/profile/tokens/", name="  my   script ", scope=PLAY).content.decode()
    found = re.search(r'data-part="token">([^<]+)<', shown)
    assert found
    text = found[1]
    assert text.startswith(BEGINNING)
    row = Token.objects.get()
    assert (row.name, row.scopes, row.user) == ("my script", [PLAY], account_of(person).user)
    assert text not in json.dumps(list(Token.objects.values()), default=str)
    assert text not in person.page("/profile/tokens/").content.decode()
    assert said(Program(text).get("sessions/"))[0] == 200


def test_a_program_plays_as_the_owner_and_gets_no_cookie(person: Person) -> None:
    program = Program(token_of(person, PLAY))
    opened = program.post("sessions/init", BATTLE)
    assert opened.status_code == 201
    assert not opened.cookies
    battle = opened.json()["battle_id"]
    assert program.get(f"battles/{battle}").status_code == 200
    assert person.client.get(f"/api/battles/{battle}").status_code == 200, "its owner sees it in the browser"
    assert Client().get(f"/api/battles/{battle}").status_code == 404
    assert [row["last_battle_id"] for row in program.get("sessions/").json()["results"]] == [battle]


def test_csrf_and_the_address_of_the_page_do_not_matter_with_a_token(person: Person) -> None:
    program = Program(token_of(person, PLAY))
    elsewhere = {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    assert program.post("sessions/init", BATTLE, **elsewhere).status_code == 201
    refused = Client().post("/api/sessions/init", json.dumps(BATTLE), "application/json", headers=elsewhere)
    assert said(refused) == (403, "cross_site")


def test_a_token_that_reads_does_not_play(person: Person) -> None:
    battle = person.open()
    program = Program(token_of(person, READ))
    assert program.get(f"battles/{battle}").status_code == 200
    refused = program.post(f"battles/{battle}/turns", {"instruction": "pick up the red cube"})
    assert said(refused) == (403, "scope_missing")
    assert json.loads(refused.content)["needed"] == PLAY
    assert said(program.post("sessions/init", BATTLE)) == (403, "scope_missing")


def test_a_token_goes_before_a_cookie(person: Person) -> None:
    other = Client()
    other.post("/api/sessions/init", json.dumps(BATTLE), "application/json")
    token = token_of(person, READ)
    seen = other.get("/api/sessions/", headers={"Authorization": f"Bearer {token}"}).json()
    assert seen["results"] == []


@pytest.mark.parametrize("text", ["", "arena_nonsense", "arena_" + "x" * 5000, "ümlaut"])
def test_an_unknown_token_is_refused_and_not_a_visitor_without_one(text: str, person: Person) -> None:
    refused = Program(text).get("sessions/")
    assert said(refused) == (401, "token_invalid")
    assert refused["WWW-Authenticate"] == "Bearer"


def test_other_schemes_and_other_pages_take_no_tokens(person: Person) -> None:
    assert said(Program("me:secret", "Basic").get("sessions/"))[0] == 200
    profile = Client(headers={"Authorization": f"Bearer {token_of(person, PLAY)}"}).get("/profile/")
    assert b"api_tokens" not in profile.content
    assert account_of(person).user.email.encode() not in profile.content


def test_a_revoked_token_and_that_of_a_closed_account_end(person: Person) -> None:
    first, second = token_of(person, READ), token_of(person, READ)
    row = Token.objects.order_by("created_at").first()
    assert row is not None
    person.page(f"/profile/tokens/{row.pk}/revoke", sure="yes")
    assert said(Program(first).get("sessions/")) == (401, "token_invalid")
    assert said(Program(second).get("sessions/"))[0] == 200
    user = account_of(person).user
    user.is_active = False
    user.save()
    assert said(Program(second).get("sessions/")) == (401, "token_invalid")


def test_nobody_revokes_the_token_of_another(person: Person) -> None:
    token_of(person, READ)
    other = Person(address="bob@example.org")
    other.sign_up()
    row = Token.objects.get()
    assert other.page(f"/profile/tokens/{row.pk}/revoke", sure="yes").status_code == 404
    assert Token.objects.filter(revoked_at=None).count() == 1
    assert "mine" not in other.page("/profile/tokens/").content.decode()


def test_an_account_has_so_many_tokens_and_the_next_is_refused(person: Person) -> None:
    user = account_of(person).user
    for number in range(MOST):
        tokens.issue(user, str(number), [READ])
    refused = person.client.post("/profile/tokens/", {"name": "one more", "scope": READ})
    assert (refused.status_code, Token.objects.count()) == (409, MOST)


@pytest.mark.parametrize(
    ("name", "scope"), [("", READ), ("x" * 41, READ), ("a\x00b", READ), ("a", STAFF), ("a", "all")]
)
def test_a_form_that_does_not_fit_makes_no_token(name: str, scope: str, person: Person) -> None:
    assert person.client.post("/profile/tokens/", {"name": name, "scope": scope}).status_code == 422
    assert not Token.objects.exists()


def test_unknown_scopes_are_refused_with_the_known_ones(person: Person) -> None:
    for scopes in ([], ["everything"]):
        with pytest.raises(ValueError, match="expected some of read, play, studies, staff"):
            tokens.issue(account_of(person).user, "x", scopes)


def test_the_limits_are_those_of_the_owner_whatever_token(person: Person, settings: Any) -> None:
    battle = person.open()
    settings.RATE_LIMITS = {**settings.RATE_LIMITS, "feedback": {"visitor": [(2, 60)], "address": [(100, 60)]}}
    programs = [Program(token_of(person, PLAY)) for _ in range(3)]
    found = [
        program.client.put(f"/api/battles/{battle}/feedback", "{}", content_type="application/json").status_code
        for program in programs
    ]
    assert found == [409, 409, 429]


def test_the_owners_copy_of_the_data_lists_tokens_and_deletion_ends_them(person: Person) -> None:
    text = token_of(person, READ)
    copy = b"".join(person.client.get("/your-data/download").streaming_content).decode()  # type: ignore[attr-defined]
    assert json.loads(copy)["account"][0]["api_tokens"][0]["name"] == "mine"
    assert text not in copy
    person.page("/your-data/delete", sure="yes")
    assert not Token.objects.exists()
    assert said(Program(text).get("sessions/")) == (401, "token_invalid")


def test_staff_make_a_token_in_the_admin_and_it_has_their_rights_alone() -> None:
    staff = operator()
    page = logged_in(staff).post("/admin/people/token/add/", {"name": "nightly"}, follow=True).content.decode()
    found = re.search(r"not kept: (arena_[\w-]+)", page)
    assert found
    program = Program(found[1])
    assert program.get("analytics?kind=robots&days=1").status_code == 200
    assert said(program.get("sessions/")) == (200, {"results": []})
    assert Token.objects.get().scopes == [STAFF]
    staff.is_staff = False
    staff.save()
    assert said(program.get("analytics?kind=robots&days=1")) == (403, "scope_missing")


def test_staff_see_their_own_tokens_in_the_admin_and_revoke_them(person: Person) -> None:
    token_of(person, READ)
    client = logged_in(moderator())
    client.post("/admin/people/token/add/", {"name": "my own"})
    listed = client.get("/admin/people/token/").content.decode()
    assert "my own" in listed
    assert "mine" not in listed
    row = Token.objects.get(name="my own")
    client.post("/admin/people/token/", {"action": "revoke", "_selected_action": [row.pk]})
    row.refresh_from_db()
    assert row.revoked_at is not None


async def ended(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept", "subprotocol": str(scope.get("token_visitor", "cookie"))})


@pytest.mark.django_db(transaction=True)
async def test_a_socket_with_a_token_is_the_owners_and_with_a_bad_one_none() -> None:
    from asgiref.sync import sync_to_async
    from django.contrib.auth.models import User

    from people.models import Account

    def made() -> str:
        user = User.objects.create(username="visitor-x")
        Account.objects.create(user=user, visitor="me")
        return tokens.issue(user, "mine", [READ])[1]

    token = await sync_to_async(made)()
    for headers, expected in [
        ([(b"authorization", f"Bearer {token}".encode())], (True, "me")),
        ([], (True, "cookie")),
        ([(b"authorization", b"Bearer nonsense")], (False, 1000)),
    ]:
        socket = WebsocketCommunicator(TokenSockets(ended), "/ws/battles/x/", headers)  # type: ignore[arg-type]
        assert await socket.connect() == expected
        await socket.disconnect()
