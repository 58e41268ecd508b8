"""The web opens no connection but to its own services, whatever is asked of it."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from tests.arena.conftest import Visitor, play_battle
from tests.fakes import FakeRuntime
from tests.people import logged_in

_watching: list[tuple[str, Any]] | None = None
_older: set[int] = set()


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching is None or threading.get_ident() in _older:
        return
    if event in ("socket.connect", "socket.getaddrinfo"):
        _watching.append((event, arguments[1] if event == "socket.connect" else arguments[:2]))


sys.addaudithook(_note)


@pytest.fixture
def opened() -> Iterator[list[tuple[str, Any]]]:
    """Every connection that the test opens, and every name that it looks up.

    Threads that ran before it are left out: a driver's monitor from an earlier test still asks its dead server.
    """
    global _watching, _older
    _older = {thread.ident for thread in threading.enumerate() if thread.ident} - {threading.get_ident()}
    _watching = []
    yield _watching
    _watching = None


def services() -> set[tuple[str, int]]:
    database = settings.DATABASES["default"]
    urls = [settings.MONGO_URL, settings.BROKER_URL, settings.CHANNEL_URL, settings.CACHE_URL]
    found = [(parts.hostname, parts.port) for parts in map(urlsplit, filter(None, urls))]
    found.append((database.get("HOST") or "localhost", int(database.get("PORT") or 5432)))
    usual = {(host, port or 0) for host, port in found if host}
    return {(address, port) for host, port in usual for address in {host, *_addresses(host)}}


def _addresses(host: str) -> set[str]:
    return {str(found[4][0]) for found in socket.getaddrinfo(host, None)}


def test_a_battle_and_every_kind_of_page_open_connections_to_our_services_alone(
    visitor: Visitor, runtime: FakeRuntime, opened: list[tuple[str, Any]]
) -> None:
    known = services()
    opened.clear()
    battle_id = play_battle(visitor, "fetch https://elsewhere.example/cube.xml")
    visitor.post("votes", {"battle_id": battle_id, "vote": "tie"})
    for address in ("/", "/battle", f"/b/{battle_id}", "/models/alpha", "/leaderboard", "/api/docs/", "/api/schema/"):
        assert visitor.client.get(address).status_code == 200
    visitor.get("health")
    root = logged_in(User.objects.create_superuser("root", email="root@elsewhere.example"))
    for address in ("/admin/", "/admin/arena/turn/", "/admin/policies/policy/alpha/change/", "/admin/second-factor/"):
        assert root.get(address).status_code == 200
    assert opened, "nothing was seen: the watch is blind"
    hosts = {host for host, _ in known}
    for event, what in opened:
        if event == "socket.getaddrinfo":
            assert what[0] in hosts, f"looked up {what[0]}"
        elif isinstance(what, tuple):
            assert tuple(what[:2]) in known, f"connected to {what}"
