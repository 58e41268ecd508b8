"""Every address of the site and every socket, and what it answers to whom. A new one without a line here fails.

Each line: anonymous, a visitor with a battle of another's, the visitor whose battle it is, a moderator, an operator.
All come from outside, through a proxy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.admin.sites import site
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from arena import kinds
from arena.routing import websocket_urlpatterns
from tests.arena.conftest import Visitor, play_battle
from tests.arena.sockets import Socket
from tests.fakes import FakeRuntime
from tests.people import logged_in, moderator, operator

PEOPLE = ("anonymous", "stranger", "owner", "moderator", "operator")
EVERYBODY = (200,) * 5
NO_STUDY = (("study_id", f"study_{'0' * 32}"),)
NOBODY = (404,) * 5
ENTRANCES = ("account/login", "account/signup", "account/signup/passkey", "account/blocked")
ROOMS_OF_ACCOUNTS = (
    *("account/login/code", "account/login/request", "account/login/passkey", "account/signup/passkey/make"),
    *("account/confirm", "account/logout", "account/address", "account/passkeys", "account/passkeys/all"),
    *("account/passkeys/add", "account/passkeys/<int:pk>/rename", "account/passkeys/<int:pk>/remove"),
)
"""Pages of those who have an account, or are about to: others are sent on to the entrance, and staff find nothing."""
OWNER_AND_STAFF = (404, 404, 200, 200, 200)
NOT_BEFORE_THE_VOTE = (404, 404, 409, 409, 409)
ASKED = (202,) * 5
OUTSIDE = {"X-Forwarded-For": "203.0.113.5"}


def only_owner(status: int) -> tuple[int, ...]:
    return (404, 404, status, 404, 404)


@dataclass
class World:
    """What the owner has played. `open`: battle with a completed turn and no vote; `voted`: one that has its vote."""

    owner: str
    open: dict[str, str]
    voted: dict[str, str]
    spare: dict[str, str]


@dataclass(frozen=True)
class Call:
    """How an address is asked. `where`: the route's gaps are filled from this part of the world."""

    expected: tuple[int, ...]
    where: str = "open"
    body: Callable[[World], dict[str, Any]] | None = None
    fill: tuple[tuple[str, str], ...] = ()


def post(expected: tuple[int, ...], where: str = "open", **body: Any) -> Call:
    return Call(expected, where, lambda world: {name: value(world) if callable(value) else value
                                                for name, value in body.items()})  # fmt: skip


# Route without its closing slash -> calls of it. Where one changes something, it is the owner's and comes last.
ROUTES: dict[str, list[Call]] = {
    "": [Call(EVERYBODY)],
    "about": [Call(EVERYBODY)],
    "battle": [Call(EVERYBODY)],
    "battle/<str:battle_id>/forks": [Call(NOBODY), Call(only_owner(200), "voted")],
    "battle/<str:battle_id>": [Call(OWNER_AND_STAFF), Call(OWNER_AND_STAFF, "voted")],
    "b/<str:battle_id>": [Call(NOBODY), Call(EVERYBODY, "voted")],
    "b/<str:battle_id>/report": [Call(NOBODY), Call(EVERYBODY, "voted")],
    "b/<str:battle_id>/reported": [Call(NOBODY), Call(EVERYBODY, "voted")],
    "b/<str:battle_id>/comments": [post(NOBODY, "voted")],  # comments are off
    "b/<str:battle_id>/comments/<int:comment_id>/report": [Call(NOBODY, "voted", fill=(("comment_id", "1"),))],
    "comments/<int:comment_id>/delete": [Call(NOBODY, body=lambda world: {}, fill=(("comment_id", "1"),))],
    "data": [Call(EVERYBODY)],
    "data/key": [Call(EVERYBODY)],
    "data/dumps/<str:name>/<str:file>": [Call(NOBODY, fill=(("name", "latest"), ("file", "manifest.json")))],
    "submit": [Call(EVERYBODY)],
    "submit/<str:token>": [Call(NOBODY, fill=(("token", "of-nobody"),))],
    "profile": [Call(EVERYBODY)],
    "profile/tokens": [Call((302,) * 5)],  # without an account
    "profile/tokens/<int:pk>/revoke": [Call(NOBODY, body=lambda world: {}, fill=(("pk", "1"),))],
    "studies": [Call(EVERYBODY)],  # without an account: where to sign in
    "studies/<str:study_id>": [Call(NOBODY, fill=NO_STUDY)],
    "studies/<str:study_id>/report": [Call(NOBODY, fill=NO_STUDY)],
    **{
        f"studies/<str:study_id>/{act}": [Call(NOBODY, body=lambda world: {}, fill=NO_STUDY)]
        for act in ("cancel", "resume", "delete")
    },
    "api/studies": [Call((401,) * 5), post((401,) * 5)],
    "api/studies/<str:study_id>": [Call(NOBODY, fill=NO_STUDY)],
    **{
        f"api/studies/<str:study_id>/{act}": [Call((401,) * 5, body=lambda world: {}, fill=NO_STUDY)]
        for act in ("cancel", "resume")
    },
    "privacy": [Call(EVERYBODY)],
    "your-data": [Call(EVERYBODY)],
    "your-data/download": [Call(EVERYBODY)],
    "your-data/delete": [post((422,) * 5)],  # without the tick
    **{entrance: [Call((200, 200, 200, 404, 404))] for entrance in ENTRANCES},
    **{room: [Call((302, 302, 302, 404, 404))] for room in ROOMS_OF_ACCOUNTS},
    "voice": [Call(NOBODY)],  # not offered here
    "models": [Call(EVERYBODY)],
    "models/<slug:model_id>": [Call(EVERYBODY, fill=(("model_id", "alpha"),))],
    "text/models/<slug:model_id>": [Call(NOBODY, fill=(("model_id", "alpha"),))],  # a robot policy
    "wish": [post((302,) * 5)],
    "strings/<str:language>.<str:version>.js": [Call(EVERYBODY, fill=(("language", "de"), ("version", "0")))],
    "leaderboard": [Call(EVERYBODY)],
    "leaderboard/physics": [Call(EVERYBODY)],
    "leaderboard/style": [Call(EVERYBODY)],
    "leaderboard/pairs": [Call(EVERYBODY)],
    "leaderboard/compare": [Call(EVERYBODY)],
    "leaderboard/checks": [Call(EVERYBODY)],
    "leaderboard/method": [Call(EVERYBODY)],
    "benchmarks": [Call(EVERYBODY)],
    "leaderboard/counts/<slug:input_hash>.csv.gz": [Call(NOBODY, fill=(("input_hash", "0" * 64),))],
    "metrics": [Call(NOBODY)],
    "admin/status": [Call((302, 302, 302, 200, 200))],
    "admin/analytics": [Call((302, 302, 302, 200, 200))],
    "api/analytics": [Call((403, 403, 403, 200, 200))],
    "api/health": [Call((503,) * 5)],  # no worker runs here
    "api/health/live": [Call(EVERYBODY)],
    "api/health/ready": [Call(EVERYBODY)],
    "api/schema": [Call(EVERYBODY)],
    "api/docs": [Call(EVERYBODY)],
    "api/sessions/init": [post((201,) * 5)],
    "api/sessions": [Call(EVERYBODY)],
    "api/sessions/user/<str:user_id>": [Call(only_owner(200))],
    "api/sessions/<str:session_id>": [Call(OWNER_AND_STAFF)],
    "api/sessions/<str:session_id>/battles": [post(only_owner(201), "spare")],
    "api/battles": [post(only_owner(201), session_id=lambda world: world.spare["session_id"])],
    "api/battles/session/<str:session_id>": [Call(OWNER_AND_STAFF)],
    "api/battles/<str:battle_id>": [Call(OWNER_AND_STAFF), Call(OWNER_AND_STAFF, "voted")],
    "api/battles/<str:battle_id>/effect": [Call(NOBODY), Call(EVERYBODY, "voted")],
    "api/battles/<str:battle_id>/start": [Call(OWNER_AND_STAFF), Call(OWNER_AND_STAFF, "voted")],
    "api/battles/<str:battle_id>/feedback": [Call(only_owner(409)), Call(only_owner(200), "voted")],
    "api/battles/<str:battle_id>/turns": [post(only_owner(409), "voted", instruction="wave")],
    "api/battles/<str:battle_id>/explorations": [
        *(Call(only_owner(409)), Call(only_owner(200), "voted")),
        *(post(only_owner(409), seed=1), post(only_owner(202), "voted", seed=1)),
    ],
    "api/battles/<str:battle_id>/again": [post(only_owner(422))],
    # Of robots: only voice battles have calls.
    "api/battles/<str:battle_id>/calls": [Call(only_owner(422)), post(only_owner(422), label="a")],
    "api/battles/<str:battle_id>/agent-metrics": [Call((404, 404, 422, 422, 422)), Call((422,) * 5, "voted")],
    "api/episodes/<str:episode_id>/caller-audio": [Call(NOT_BEFORE_THE_VOTE), Call((422,) * 5, "voted")],
    "api/episodes/<str:episode_id>/agent-audio": [Call(NOT_BEFORE_THE_VOTE), Call((422,) * 5, "voted")],
    "api/episodes/<str:episode_id>/like": [Call((405,) * 5)],
    "api/arena/battle": [post((422,) * 5)],  # an empty body is no message
    "api/arena/vote": [post((422,) * 5)],
    "api/shared/<str:battle_id>": [Call(NOBODY), Call(EVERYBODY, "voted")],
    "api/turns/<str:turn_id>": [Call(OWNER_AND_STAFF), Call(OWNER_AND_STAFF, "voted")],
    "api/turns/<str:turn_id>/queue": [Call(OWNER_AND_STAFF)],
    "api/turns/<str:turn_id>/cancel": [post(only_owner(409))],
    "api/episodes/<str:episode_id>": [Call(OWNER_AND_STAFF), Call(EVERYBODY, "voted")],
    "api/episodes/<str:episode_id>/view.bin": [Call(OWNER_AND_STAFF), Call(EVERYBODY, "voted")],
    "api/episodes/<str:episode_id>/states.bin": [Call(NOT_BEFORE_THE_VOTE), Call(EVERYBODY, "voted")],
    "api/episodes/<str:episode_id>/replay.bin": [Call(NOT_BEFORE_THE_VOTE), Call(EVERYBODY, "voted")],
    "api/episodes/<str:episode_id>/picture.webp": [Call(NOT_BEFORE_THE_VOTE), Call(ASKED, "voted")],
    "api/episodes/<str:episode_id>/strip.webp": [Call(NOT_BEFORE_THE_VOTE), Call(ASKED, "voted")],
    "api/episodes/<str:episode_id>/video.mp4": [
        Call(NOT_BEFORE_THE_VOTE),
        post(NOT_BEFORE_THE_VOTE),
        post(ASKED, "voted"),
    ],
    "api/battles/<str:battle_id>/preview.jpg": [Call(NOBODY), Call(EVERYBODY, "voted")],
    "api/gallery": [Call(EVERYBODY)],
    "api/oembed": [Call(NOBODY)],
    "battles": [Call(EVERYBODY)],
    "embed/battles/<str:battle_id>": [Call(NOBODY), Call(EVERYBODY, "voted")],
    "api/votes": [post(only_owner(409), battle_id=lambda world: world.voted["battle_id"], vote="tie")],
    "api/robots": [Call(EVERYBODY)],
    "api/scenes": [Call(EVERYBODY)],
    "api/scenes/<slug:robot_id>/<slug:scene_id>": [
        Call(EVERYBODY, fill=(("robot_id", "widowx"), ("scene_id", "table")))
    ],
    "api/scenes/<slug:robot_id>/<slug:scene_id>/<str:scene_hash>/<str:name>": [
        Call(NOBODY, fill=(("robot_id", "widowx"), ("scene_id", "table"), ("scene_hash", "0"), ("name", "..%2fsecret")))
    ],
    "api/tasks": [Call(EVERYBODY)],
    "api/models": [Call(EVERYBODY)],
    "api/models/<slug:model_id>": [Call(EVERYBODY, fill=(("model_id", "alpha"),))],
    "api/leaderboard": [Call(EVERYBODY)],
    "api/leaderboard/stats": [Call(EVERYBODY)],
    "api/leaderboard/report": [Call(EVERYBODY)],
    "api/leaderboard/compare": [Call((422,) * 5)],
    "api/worker/status": [Call(EVERYBODY)],
    "api/wormarena/models": [Call(EVERYBODY)],
    "api/wormarena/decisions": [Call(EVERYBODY)],
    "api/wormarena/matchups": [Call(EVERYBODY)],
    "api/wormarena/games/recent": [Call(EVERYBODY)],
    "api/wormarena/games/<str:game_id>": [Call(NOBODY, fill=(("game_id", "none"),))],
    "api/wormarena/games": [post((403, 403, 403, 403, 422))],  # an empty body is no game
    "wormarena": [Call(EVERYBODY)],
    "wormarena/model": [Call(NOBODY)],
    "wormarena/pairs": [Call(EVERYBODY)],
    "wormarena/live": [Call(EVERYBODY)],
    "wormarena/games": [Call(EVERYBODY)],
    "wormarena/games/<str:game_id>": [Call(NOBODY, fill=(("game_id", "none"),))],
    "api/worker/aggregate": [post((403, 403, 403, 403, 200), force=True, reason="to see who may")],
    "api/<anything:address>": [Call(NOBODY, fill=(("address", "nowhere/at/all"),))],
    "admin": [Call((302, 302, 302, 200, 200))],
    "admin/login": [Call((200, 200, 200, 302, 302))],
    "admin/logout": [Call((302, 302, 302, 405, 405))],
    "admin/second-factor": [Call((302, 302, 302, 200, 200))],
    "admin/password_change": [Call((302, 302, 302, 200, 200))],
    "admin/password_change/done": [Call((302, 302, 302, 200, 200))],
    "admin/autocomplete": [Call((302, 302, 302, 403, 403))],
    "admin/jsi18n": [Call((302, 302, 302, 200, 200))],
    "admin/r/<path:content_type_id>/<path:object_id>": [
        Call((302, 302, 302, 404, 404), fill=(("content_type_id", "1"), ("object_id", "1")))
    ],
    "admin/^(?P<app_label>APPS)/$": [Call((302, 302, 302, 404, 404), fill=(("app_label", "auth"),))],
    "admin/(?P<url>.*)$": [Call((302, 302, 302, 404, 404), fill=(("url", "nowhere"),))],
}
for kind in kinds.every():  # another kind's page leads the owner of a robots' battle, and staff, to that battle's page
    ROUTES.setdefault(kind.address, [Call(EVERYBODY)])
    ROUTES.setdefault(f"{kind.address}/<str:battle_id>", [Call((404, 404, 302, 302, 302))])

LOOK, ADD, CHANGE = "look", "add", "change"
NOTHING: frozenset[str] = frozenset()
ONLY_LOOK = frozenset({LOOK})
# Model in the admin -> what a moderator and an operator may do with its rows. Nobody deletes, and visitors see nothing.
MODELS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "auth.group": (NOTHING, NOTHING),
    "auth.user": (NOTHING, NOTHING),
    "arena.session": (ONLY_LOOK, ONLY_LOOK),
    "arena.battle": (ONLY_LOOK, ONLY_LOOK),
    "arena.turn": (ONLY_LOOK, ONLY_LOOK),
    "arena.attempt": (ONLY_LOOK, ONLY_LOOK),
    "arena.vote": (ONLY_LOOK, ONLY_LOOK),
    "arena.feedback": (ONLY_LOOK, ONLY_LOOK),
    "policies.policy": (ONLY_LOOK, frozenset({LOOK, ADD, CHANGE})),
    "texts.languagemodel": (ONLY_LOOK, frozenset({LOOK, ADD, CHANGE})),
    "voice.scenariorow": (ONLY_LOOK, frozenset({LOOK, ADD, CHANGE})),
    "voice.voiceagent": (ONLY_LOOK, frozenset({LOOK, ADD, CHANGE})),
    "voice.conversation": (ONLY_LOOK, ONLY_LOOK),
    "robots.publishedtask": (frozenset({LOOK, ADD, CHANGE}), NOTHING),
    "people.token": (frozenset({LOOK, ADD}), frozenset({LOOK, ADD})),  # their own
    "robots.publishedscene": (frozenset({LOOK, ADD, CHANGE}), NOTHING),
    "robots.remotetrial": (ONLY_LOOK, frozenset({LOOK, ADD})),
    "robots.submission": (ONLY_LOOK, NOTHING),
    "studies.study": (ONLY_LOOK, ONLY_LOOK),
    "rankings.modelstatstotal": (ONLY_LOOK, ONLY_LOOK),
    "rankings.modelstatsbyrobot": (ONLY_LOOK, ONLY_LOOK),
    "rankings.workerstatus": (NOTHING, ONLY_LOOK),
    "rankings.finding": (ONLY_LOOK, NOTHING),
    "rankings.countedvote": (ONLY_LOOK, NOTHING),
    "rankings.excludedvoter": (ONLY_LOOK, NOTHING),
    "rankings.moderationact": (ONLY_LOOK, ONLY_LOOK),
    "community.report": (ONLY_LOOK, NOTHING),
    "community.comment": (ONLY_LOOK, NOTHING),
    "wormarena.game": (NOTHING, ONLY_LOOK),
    "django_celery_beat.periodictask": (NOTHING, frozenset({LOOK, CHANGE})),
    "django_celery_beat.crontabschedule": (NOTHING, frozenset({LOOK, ADD})),
    "django_celery_beat.intervalschedule": (NOTHING, frozenset({LOOK, ADD})),
    "django_celery_beat.clockedschedule": (NOTHING, NOTHING),
    "django_celery_beat.solarschedule": (NOTHING, NOTHING),
}
MODEL_VIEWS = {"": LOOK, "add": ADD, "<path:object_id>/change": LOOK, "<path:object_id>/delete": "delete"}
# These send whoever is in the admin on to another page of it, which has the guard.
MODEL_DETOURS = {"<path:object_id>/history", "<path:object_id>"}
REVEAL = "arena/battle/<path:object_id>/reveal"
"""For both roles: a question first, and then an entry in the audit log (tests/arena/test_blind_staff.py)."""
HIDE = {f"arena/{model}/<path:object_id>/hide" for model in ("battle", "turn")}
"""For moderators: a question first, and then an entry in the audit log (tests/arena/test_hiding.py)."""
EXTRA_VIEWS = {"rankings/workerstatus/run", "auth/user/<id>/password", REVEAL, *HIDE}
EXTRA_VIEWS |= {f"community/{model}/<int:key>/act" for model in ("report", "comment")}
"""Buttons, which answer to POST alone (tests/community/test_moderators_queue.py)."""
EXTRA_VIEWS |= {"robots/publishedtask/<int:key>/try", "robots/publishedscene/<int:key>/try"}
EXTRA_VIEWS |= {f"robots/publishedscene/trials/<int:key>/{name}" for name in ("manifest.json", "<str:name>")}
"""For moderators (tests/arena/test_published_tasks.py)."""
HAND_IN = "wormarena/game/hand-in"
"""For operators (tests/wormarena/test_handing_in.py)."""
EXTRA_VIEWS |= {HAND_IN}


@pytest.fixture
def world(visitor: Visitor, runtime: FakeRuntime) -> World:
    def known(battle_id: str) -> dict[str, str]:
        battle = visitor.battle(battle_id)
        found = {"battle_id": battle_id, "session_id": battle["session_id"], "user_id": "me"}
        for turn in battle["turns"]:
            found |= {"turn_id": turn["turn_id"], "episode_id": turn["left"]["episode_id"]}
        return found

    is_open, voted, spare = play_battle(visitor), play_battle(visitor), visitor.open()
    assert visitor.post("votes", {"battle_id": voted, "vote": "tie"}).status_code == 201
    owner = visitor.get("sessions/?mine").json()["results"][0]["user_id"]
    return World(owner, known(is_open), known(voted), known(spare))


@pytest.fixture
def people(visitor: Visitor) -> dict[str, Client]:
    stranger = Visitor()
    stranger.open()
    # The owner last: only an owner's call changes anything.
    return {
        "anonymous": Client(),
        "stranger": stranger.client,
        "moderator": logged_in(moderator()),
        "operator": logged_in(operator()),
        "owner": visitor.client,
    }


def routes() -> Iterator[str]:
    def below(patterns: list[URLPattern | URLResolver], prefix: str) -> Iterator[str]:
        for each in patterns:
            route = prefix + str(each.pattern)
            if isinstance(each, URLResolver):
                yield from below(each.url_patterns, route)
            else:
                yield route

    yield from below(get_resolver().url_patterns, "")


def named(route: str) -> str:
    """As the tables above write it: without a closing slash, and without the list of apps."""
    if "(?P<app_label>" in route:
        return "admin/^(?P<app_label>APPS)/$"
    return route.removesuffix("/")


def of_model(route: str) -> tuple[str, str] | None:
    """The model and the view of an address of a model in the admin."""
    for model in site._registry:
        prefix = f"admin/{model._meta.app_label}/{model._meta.model_name}/"
        if route.startswith(prefix):
            return f"{model._meta.app_label}.{model._meta.model_name}", named(route.removeprefix(prefix))
    return None


def filled(route: str, gaps: dict[str, str]) -> str:
    address = route.replace("^", "").replace("$", "")
    address = (
        address.replace(address[address.index("(?P<") : address.index(")") + 1], f"<{named_group(address)}>")
        if ("(?P<" in address)
        else address
    )
    for name, value in gaps.items():
        for kind in ("", "str:", "slug:", "path:", "int:", "anything:"):
            address = address.replace(f"<{kind}{name}>", value)
    assert "<" not in address, f"nothing to fill {address} with"
    return f"/{address}"


def named_group(address: str) -> str:
    return address.partition("(?P<")[2].partition(">")[0]


def test_every_address_has_a_line_in_the_tables() -> None:
    lacking = [route for route in routes() if not of_model(route) and named(route) not in ROUTES]
    assert lacking == []
    for route in routes():
        if (found := of_model(route)) is not None:
            model, view = found
            assert model in MODELS, f"{model} is new in the admin"
            known = {*MODEL_VIEWS, *MODEL_DETOURS}
            assert view in known or f"{model.replace('.', '/')}/{view}" in EXTRA_VIEWS, f"{route} is new in the admin"


def test_every_address_answers_each_as_the_table_says(world: World, people: dict[str, Client]) -> None:
    wrong = []
    for route in routes():
        if of_model(route):
            continue
        for call in ROUTES[named(route)]:
            gaps = {**getattr(world, call.where), "user_id": world.owner, "pk": "1", **dict(call.fill)}
            address = filled(route, gaps)
            expected = dict(zip(PEOPLE, call.expected, strict=True))
            for who, client in people.items():
                if call.body is None:
                    status = client.get(address, headers=OUTSIDE).status_code
                else:
                    status = client.post(
                        address, call.body(world), content_type="application/json", headers=OUTSIDE
                    ).status_code
                if status != expected[who] and not _second_time(route, call, who, status):
                    wrong.append((address, who, status, expected[who]))
    assert wrong == []


def _second_time(route: str, call: Call, who: str, status: int) -> bool:
    """The same call under its other spelling, when the owner's first has changed what it acts on."""
    return call.body is not None and who == "owner" and route.endswith("/") and status in (202, 409, 503)


def test_every_model_in_the_admin_is_open_to_each_role_as_the_table_says(people: dict[str, Client]) -> None:
    wrong = []
    for route in routes():
        found = of_model(route)
        if found is None or found[1] in MODEL_DETOURS:
            continue
        model, view = found
        address = filled(route, {"object_id": "1", "id": "1", "key": "1", "name": "1"})
        for who, client in people.items():
            status = client.get(address).status_code
            if who in ("anonymous", "stranger", "owner"):
                allowed = status == 302
            elif view in MODEL_VIEWS:
                may = MODEL_VIEWS[view] in MODELS[model][who == "operator"]
                allowed = (status in (200, 302)) if may else status == 403
            elif f"{model.replace('.', '/')}/{view}" == REVEAL:
                allowed = status in (200, 302, 404)  # whether there is a battle with this key
            elif f"{model.replace('.', '/')}/{view}" in HIDE:
                allowed = status in ((200, 404) if who == "moderator" else (403,))
            elif f"{model.replace('.', '/')}/{view}" == HAND_IN:
                allowed = status == (200 if who == "operator" else 403)
            else:
                allowed = status in (403, 404, 405)
            if not allowed:
                wrong.append((address, who, status))
    assert wrong == []


def test_nobody_but_a_superuser_makes_accounts_or_gives_roles(people: dict[str, Client]) -> None:
    for who in ("moderator", "operator"):
        for address in ("/admin/auth/user/add/", "/admin/auth/group/add/", "/admin/auth/user/1/change/"):
            assert people[who].post(address, {"username": "more", "is_superuser": "on"}).status_code == 403


SOCKETS = {"ws/battles/<str:battle_id>/": {"open": ("owner",), "voted": ("owner",)}}


def test_every_socket_has_a_line_in_the_table() -> None:
    assert {str(each.pattern) for each in websocket_urlpatterns} == set(SOCKETS)


async def test_a_socket_tells_the_owner_alone(world: World, people: dict[str, Client]) -> None:
    for part, may in SOCKETS["ws/battles/<str:battle_id>/"].items():
        for who, client in people.items():
            battle_id = getattr(world, part)["battle_id"]
            async with Socket(Visitor(client), battle_id) as socket:
                first = await socket.wire.receive_output(timeout=5)
                expected = "websocket.send" if who in may else "websocket.close"
                assert first["type"] == expected, (part, who)
                assert who in may or first["code"] == 4404


@pytest.mark.parametrize(
    "origin",
    [
        *("https://elsewhere.example", "http://testserver.elsewhere.example", "null", ""),
        *("https://testserver", "http://testserver:8080", "https://testserver:80", "ftp://testserver", "//testserver"),
        *("http://localhost", "http://someone@testserver", "http://testserver:port"),
    ],
)
async def test_a_socket_opens_for_pages_of_ours_alone(world: World, visitor: Visitor, origin: str) -> None:
    async with Socket(visitor, world.open["battle_id"], origin=origin) as socket:
        assert not socket.connected


def test_what_is_listed_is_the_callers_own(world: World, people: dict[str, Client]) -> None:
    for who in ("anonymous", "stranger", "moderator", "operator"):
        listed = people[who].get("/api/sessions/").json()["results"]
        assert world.open["session_id"] not in {row["session_id"] for row in listed}
