"""What the first release let happen beside its leaks: a test of each, which fails there (decision: blindness-tests).

Like those of the leaks, they use what both versions have.
"""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from channels.testing import HttpCommunicator
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import reverse

from arena.models import Battle, Turn
from rankings.models import ModelStatsTotal
from rankings.publication import aggregation
from tests.arena.conftest import Visitor, play, play_battle
from tests.arena.sockets import Socket
from tests.factories import VoteFactory
from tests.fakes import FakeRuntime
from tests.people import logged_in, operator
from vlaarena.handler import OneThreadHandler
from vlaarena.production import AccessSettings, refuse_unsafe
from vlaarena.supervisor import watch
from vlaarena.supervisor.child import ChildSpec
from vlaarena.supervisor.folder import DataFolder, Running


class At(Visitor):
    """A fresh cookie at an address, behind one proxy of ours."""

    def __init__(self, address: str) -> None:
        super().__init__(Client(headers={"X-Forwarded-For": address}))


@pytest.fixture
def behind(settings: Any) -> None:
    settings.TRUSTED_PROXIES = 1


@pytest.fixture
def limits(settings: Any) -> None:
    settings.RATE_LIMITS = {"logins": {"account": ((3, 60),)}}


def rating(policy: str) -> int:
    return int(ModelStatsTotal.objects.get(model_id=policy).elo_score)


@pytest.mark.usefixtures("behind", "runtime", "contestants")
def test_82_cookies_of_one_address_move_no_rating() -> None:
    for outcome in ["left_better", "right_better"] * 50:
        VoteFactory(
            battle__left_model_id="alpha",
            battle__left_model=None,
            battle__right_model_id="beta",
            battle__right_model=None,
            vote=outcome,
        )
    aggregation.aggregate()
    before = rating("alpha")
    for _ in range(82):
        member = At("198.51.100.7")
        battle_id = play_battle(member)
        seat = Turn.objects.get(battle__battle_id=battle_id).battle.left_model_id
        choice = "left_better" if seat == "alpha" else "right_better"
        assert member.post("votes", {"battle_id": battle_id, "vote": choice}).status_code == 201
    aggregation.aggregate()
    assert abs(rating("alpha") - before) <= 10


@pytest.mark.usefixtures("behind", "contestants")
def test_sixty_cookies_of_one_address_lock_no_other_out(runtime: FakeRuntime) -> None:
    first = At("192.0.2.7")
    turn = first.send(first.open())
    play(turn)
    row = Turn.objects.get(turn_id=turn["turn_id"])
    row.attempts.update(started_at=row.settled_at - timedelta(seconds=5.05))
    Battle.objects.filter(battle_id=row.battle_id).update(status="voted")  # else how long it took forecasts no wait
    for _ in range(60):
        one = At("198.51.100.7")
        one.send(one.open())
    other = At("203.0.113.9")
    answer = other.post(f"battles/{other.open()}/turns", {"instruction": "pick up the red cube"})
    assert answer.status_code == 202


def test_a_part_that_dies_for_want_of_room_does_not_end_the_arena(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "RESTART_PAUSE_S", 0.01)
    said: list[str] = []
    dies = "print('OSError: [Errno 28] No space left on device'); exit(1)"

    async def arena_ended() -> bool:
        supervisor = watch.Supervisor(
            DataFolder(tmp_path),
            tmp_path,
            dict(os.environ),
            Running(pid=1),
            say=said.append,
            tell_ready=lambda running: None,
        )
        part = await supervisor._start(ChildSpec("store", [sys.executable, "-c", dies], grace_s=1.0))
        life = asyncio.create_task(supervisor._keep_alive(part))
        while not life.done() and len(said) < 4:
            await asyncio.sleep(0.01)
        ended = life.done()
        life.cancel()
        await asyncio.gather(life, return_exceptions=True)
        return ended

    assert not asyncio.run(arena_ended())


def test_spellings_of_one_account_share_its_limit_of_logins(db: None, limits: None) -> None:
    User.objects.create_superuser("operator", password="a long phrase of words")
    spellings = ["operator", " operator", "operator\t", "\u3000operator", "\uff4fperator", " " * 160 + "operator"]
    told = [
        Client().post(reverse("admin:login"), {"username": name, "password": "a guess"}).status_code
        for name in spellings
    ]
    assert told == [200] * 3 + [429] * 3


def test_few_who_prefer_to_wait_are_kept_waiting_at_once(settings: Any) -> None:
    settings.WEB_THREADS = 6
    site, waiting, go = OneThreadHandler(), [], threading.Event()

    def view(request: HttpRequest) -> HttpResponse:
        if "Prefer" in request.headers:
            waiting.append(request.path)
            go.wait(20)
        return HttpResponse("done")

    async def crowd() -> int:
        def ask(path: str) -> Any:
            headers = [(b"host", b"testserver"), (b"prefer", b"wait=60")]
            return HttpCommunicator(site, "GET", path, headers=headers).get_response(30)

        asked = [asyncio.create_task(ask(f"/{number}")) for number in range(20)]
        while len(waiting) + sum(task.done() for task in asked) < 20:
            await asyncio.sleep(0.01)
        kept = len(waiting)
        go.set()
        await asyncio.gather(*asked)
        return kept

    site.get_response = view  # type: ignore[method-assign,assignment]
    assert asyncio.run(crowd()) == 2


def test_a_call_from_a_page_of_another_scheme_is_refused(visitor: Visitor) -> None:
    assert visitor.post("sessions/init", {}, Origin="https://testserver").status_code == 403


@pytest.mark.parametrize("origin", ["https://testserver", "http://testserver:8080"])
def test_a_socket_of_a_page_of_another_scheme_or_port_is_refused(visitor: Visitor, origin: str) -> None:
    battle_id = visitor.open()

    async def connected() -> bool:
        async with Socket(visitor, battle_id, origin=origin) as socket:
            return bool(socket.connected)

    assert not asyncio.run(connected())


def test_hosts_under_a_leading_dot_are_refused_for_the_public() -> None:
    hosts = [".example.org"]
    access = AccessSettings(secret_key=None, debug=False, proxies=1, hosts=hosts, origins={}, servers={})
    with pytest.raises(ImproperlyConfigured):
        refuse_unsafe(access)


def test_a_cancelled_turn_is_no_failure(visitor: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vlaarena.health.parts_now", dict)
    turn = visitor.send(visitor.open())
    assert visitor.post(f"turns/{turn['turn_id']}/cancel").status_code == 200
    page = logged_in(operator()).get("/admin/status/").content.decode()
    assert "cancelled" not in page


def test_the_data_folder_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with DataFolder(tmp_path / "data").locked():
            assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    finally:
        os.umask(before)
