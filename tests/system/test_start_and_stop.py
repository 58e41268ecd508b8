"""One command starts everything, says so once, and stops everything."""

from __future__ import annotations

import http.server
import json
from pathlib import Path

from tests.system.conftest import MakeArena
from vlaarena.supervisor import plan
from vlaarena.supervisor.folder import DataFolder

SERVER_OF = {"MONGO_URL": "mongo", "BROKER_URL": "valkey", "CHANNEL_URL": "valkey"}


def test_a_taken_port_is_refused_with_the_name_of_the_variable(make_arena: MakeArena) -> None:
    with http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as taken:
        arena = make_arena(ARENA_PORT=str(taken.server_port))
        arena.launch()
        assert arena.process.wait(60) != 0
        assert f"port {taken.server_port} is taken" in "".join(arena.errors)
        assert "ARENA_PORT" in "".join(arena.errors)
        assert arena.processes() == []


def test_no_part_is_waited_for_longer_than_leaves_ten_seconds_for_all(tmp_path: Path) -> None:
    parts = plan.parts(queues=["default"], worker_processes=2, host="127.0.0.1", port=8000)
    graces = [spec.grace_s for spec in (*plan.bundled_servers(DataFolder(tmp_path), {}).specs, *parts)]
    assert len(graces) == 6
    assert sum(graces) < 10


def test_stopping_ends_every_process_and_the_next_start_has_the_data(make_arena: MakeArena) -> None:
    arena = make_arena()
    said = arena.start()
    assert said["url"] == arena.url
    assert all(":***@127.0.0.1:" in url for url in said["urls"].values()), "what is printed has no password"
    own_servers = {SERVER_OF[name] for name in said["urls"]}
    assert set(said["processes"]) == {"loader", "worker", "drawing", "beat", "web", *own_servers}
    assert len(arena.processes()) >= len(said["processes"])
    assert arena.health()[0] == 200
    arena.manage("shell", "--verbosity", "0", "-c", WRITE)

    assert arena.stop() == 0
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
