"""One command starts everything, says so once, and stops everything."""

from __future__ import annotations

import http.server
import json
import stat
import time

import pymongo
import pytest

from tests.stack import Arena
from tests.system.conftest import MakeArena
from vlaarena.supervisor.folder import MARK

SERVER_OF = {"MONGO_URL": "mongo", "BROKER_URL": "valkey", "CHANNEL_URL": "valkey"}


@pytest.fixture(scope="module")
def arena(make_arena: MakeArena) -> Arena:
    arena = make_arena()
    arena.start()
    return arena


def test_when_it_says_ready_every_part_answers(arena: Arena) -> None:
    status, body = arena.health()
    assert status == 200
    assert {name: part["status"] for name, part in body["parts"].items()} == dict.fromkeys(
        ["database", "episodes", "broker", "channels", "worker"], "ok"
    )


def test_a_second_start_on_the_same_folder_says_who_runs_there(arena: Arena, make_arena: MakeArena) -> None:
    second = make_arena(arena.folder)
    second.launch()
    assert second.process.wait(60) != 0
    told = "".join(second.errors)
    assert f"already runs on {arena.folder}" in told
    assert f"process {arena.process.pid}" in told
    assert "Traceback" not in told
    assert arena.health()[0] == 200


def test_a_taken_port_is_refused_with_the_name_of_the_variable(make_arena: MakeArena) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as taken:
        arena = make_arena(ARENA_PORT=str(taken.server_port))
        arena.launch()
        assert arena.process.wait(60) != 0
        assert f"port {taken.server_port} is taken" in "".join(arena.errors)
        assert "ARENA_PORT" in "".join(arena.errors)
        assert arena.processes() == []


def test_the_secret_key_is_made_once_and_only_its_owner_reads_it(arena: Arena) -> None:
    key = arena.folder / "secret_key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_text()) >= 50


def test_a_command_typed_beside_it_finds_its_servers(arena: Arena) -> None:
    arena.environment.pop(MARK, None)
    url = arena.manage("shell", "--verbosity", "0", "-c", "from django.conf import settings; print(settings.MONGO_URL)")
    with pymongo.MongoClient(url.strip().splitlines()[-1], serverSelectionTimeoutMS=3000) as client:
        assert client.admin.command("ping")["ok"] == 1


def test_stopping_ends_every_process_within_ten_seconds_and_the_next_start_has_the_data(make_arena: MakeArena) -> None:
    arena = make_arena()
    said = arena.start()
    assert said["url"] == arena.url
    assert all(":***@127.0.0.1:" in url for url in said["urls"].values()), "what is printed has no password"
    own_servers = {SERVER_OF[name] for name in said["urls"]}
    assert set(said["processes"]) == {"worker", "beat", "web", *own_servers}
    assert len(arena.processes()) >= len(said["processes"])
    arena.manage("shell", "--verbosity", "0", "-c", WRITE)

    before = time.monotonic()
    assert arena.stop() == 0
    assert time.monotonic() - before < 10
    assert arena.processes() == []
    assert not (arena.folder / "running.json").exists()

    arena.start()
    found = json.loads(arena.manage("shell", "--verbosity", "0", "-c", READ).strip().splitlines()[-1])
    assert found == {"user": True, "document": {"_id": "kept", "numbers": [1.5, 2.5]}}


WRITE = """
from django.conf import settings
from django.contrib.auth.models import User
import pymongo
User.objects.create(username="kept")
store = pymongo.MongoClient(settings.MONGO_URL)[settings.MONGO_DATABASE]
journaled = store.get_collection("kept", write_concern=pymongo.WriteConcern(w=1, j=True))
journaled.insert_one({"_id": "kept", "numbers": [1.5, 2.5]})
"""
READ = """
import json
from django.conf import settings
from django.contrib.auth.models import User
import pymongo
store = pymongo.MongoClient(settings.MONGO_URL)[settings.MONGO_DATABASE]
print(json.dumps({"user": User.objects.filter(username="kept").exists(), "document": store["kept"].find_one("kept")}))
"""
