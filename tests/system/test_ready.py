"""An arena that said that it is ready: every part answers, and one who types beside it finds it."""

from __future__ import annotations

import stat

import pymongo
import pytest

from tests.stack import Arena
from tests.system.conftest import MakeArena

pytestmark = pytest.mark.stack


def test_when_it_says_ready_every_part_answers(arena_stack: Arena) -> None:
    status, body = arena_stack.health()
    assert status == 200
    assert {name: part["status"] for name, part in body["parts"].items()} == dict.fromkeys(
        ["database", "episodes", "broker", "channels", "worker"], "ok"
    )


def test_a_second_start_on_the_same_folder_says_who_runs_there(arena_stack: Arena, make_arena: MakeArena) -> None:
    second = make_arena(arena_stack.folder)
    second.launch()
    assert second.process.wait(60) != 0
    told = "".join(second.errors)
    assert f"already runs on {arena_stack.folder}" in told
    assert f"process {arena_stack.process.pid}" in told
    assert "Traceback" not in told
    assert arena_stack.health()[0] == 200


def test_the_secret_key_is_made_once_and_only_its_owner_reads_it(arena_stack: Arena) -> None:
    key = arena_stack.folder / "secret_key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_text()) >= 50


def test_a_command_typed_beside_it_finds_its_servers(arena_stack: Arena) -> None:
    asked = "from django.conf import settings; print(settings.MONGO_URL)"
    url = arena_stack.manage("shell", "--verbosity", "0", "-c", asked)
    with pymongo.MongoClient(url.strip().splitlines()[-1], serverSelectionTimeoutMS=3000) as client:
        assert client.admin.command("ping")["ok"] == 1
