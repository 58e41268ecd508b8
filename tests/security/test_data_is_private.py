"""What an arena keeps is for its user alone: files by their modes, bundled servers by their passwords."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pymongo
import pytest
import redis
from pymongo.errors import OperationFailure

from tests.ports import free_port
from tests.stack import Arena
from vlaarena import bundled
from vlaarena.supervisor.folder import DataFolder

MAKES_FILES = "import pathlib; pathlib.Path('made').mkdir(); pathlib.Path('made/file').write_text('x')"


def open_to_others(folder: Path) -> list[str]:
    """Everything in the folder, itself included, that anybody but its owner may read, write or enter."""
    found = [folder, *folder.rglob("*")]
    return [str(path) for path in found if not path.is_symlink() and path.stat().st_mode & 0o077]


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def test_a_folder_of_an_earlier_version_is_closed_when_it_is_taken(tmp_path: Path, usual_umask: None) -> None:
    folder, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    (folder / "mongo" / "data").mkdir(parents=True)
    elsewhere.write_text("not ours")
    for name in ("arena.sqlite3", "secret_key", "mongo/data/store.wt"):
        (folder / name).write_text("x")
    (folder / "run.sh").touch(mode=0o755)
    (folder / "link").symlink_to(elsewhere)
    assert open_to_others(folder)
    with DataFolder(folder).locked():
        assert open_to_others(folder) == []
    assert stat.S_IMODE((folder / "run.sh").stat().st_mode) == 0o700
    assert stat.S_IMODE(elsewhere.stat().st_mode) == 0o644


def test_what_is_made_by_the_owner_and_by_what_it_starts_is_private(tmp_path: Path, usual_umask: None) -> None:
    folder = DataFolder(tmp_path / "data")
    with folder.locked():
        folder.secret_key()
        folder.password("valkey")
        folder.fresh_log("web").write_text("x")
        subprocess.run([sys.executable, "-c", MAKES_FILES], cwd=folder.path, check=True)
        assert open_to_others(folder.path) == []
    assert os.umask(0o022) == 0o022


def test_passwords_are_kept_and_differ(tmp_path: Path) -> None:
    with DataFolder(tmp_path).locked():
        first = DataFolder(tmp_path).password("valkey")
        assert len(first) >= 32
        assert DataFolder(tmp_path).password("valkey") == first
        assert DataFolder(tmp_path).password("mongo") != first


def test_the_store_takes_a_password_that_was_changed_and_forgets_other_users(tmp_path: Path) -> None:
    for password in ("first", "second"):
        port = free_port()
        server = subprocess.Popen(bundled.secantus_command(tmp_path, port, password))
        try:
            assert bundled.wait_for(port)
            with pymongo.MongoClient(bundled.mongo_url(port, password)) as client:
                assert [user["user"] for user in client.admin.command("usersInfo", 1)["users"]] == ["arena"]
                client.admin.command("createUser", "another", pwd="x", roles=["root"])
                client.kept.things.insert_one({"_id": password})
                assert client.kept.things.count_documents({}) == (1 if password == "first" else 2)
            for wrong in ("third", "first" if password == "second" else "second"):
                with (
                    pymongo.MongoClient(bundled.mongo_url(port, wrong)) as client,
                    pytest.raises(OperationFailure, match="authentication failed"),
                ):
                    client.kept.things.find_one()
        finally:
            server.terminate()
            server.wait()


@pytest.mark.stack
def test_a_running_arena_shows_its_files_to_nobody(arena_stack: Arena, tmp_path: Path) -> None:
    assert open_to_others(arena_stack.folder) == []
    backup = tmp_path / "arena.tar"
    arena_stack.manage("backup", str(backup))
    assert open_to_others(backup) == []


@pytest.mark.stack
def test_its_servers_answer_to_nobody_without_the_password(arena_stack: Arena) -> None:
    urls = json.loads((arena_stack.folder / "running.json").read_text())["urls"]
    for name, url in urls.items():
        port = urlsplit(url).port
        if name == "MONGO_URL":
            with pymongo.MongoClient(f"mongodb://127.0.0.1:{port}") as client:
                for ask in (client.list_database_names, lambda client=client: client.vla_arena.episodes.find_one()):
                    with pytest.raises(OperationFailure, match="requires authentication"):
                        ask()
        else:
            with redis.Redis(port=port) as client, pytest.raises(redis.AuthenticationError):
                client.keys("*")


@pytest.mark.stack
def test_no_password_stands_among_the_arguments_of_a_process_or_in_a_log(arena_stack: Arena) -> None:
    names = [name for name in ("valkey", "mongo") if (arena_stack.folder / f"{name}_password").exists()]
    passwords = [DataFolder(arena_stack.folder).password(name) for name in names]
    said = [
        " ".join(process.cmdline()) for process in (psutil.Process(arena_stack.process.pid), *arena_stack.processes())
    ]
    logs = [path.read_text(errors="replace") for path in (arena_stack.folder / "log").iterdir()]
    for password in passwords:
        assert not any(password in text for text in (*said, *logs, *arena_stack.errors))
