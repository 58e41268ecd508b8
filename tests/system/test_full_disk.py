"""A full disk neither blocks a part nor ends the arena, which goes on by itself when there is room again."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests import servers
from tests.faults.testbed import mount_small_disk
from tests.stack import Arena, wait_until
from tests.system.conftest import MakeArena
from vlaarena.bundled import SECANTUS_PANIC
from vlaarena.supervisor import child as child_module
from vlaarena.supervisor import watch
from vlaarena.supervisor.child import Child, ChildSpec
from vlaarena.supervisor.folder import DataFolder, Running
from vlaarena.supervisor.plan import bundled_servers
from vlaarena.supervisor.room import has_room
from vlaarena.supervisor.watch import Supervisor, SupervisorError

TALKATIVE = "import sys; sys.stdout.write(('x' * 99 + chr(10)) * 20_000); print('last words')"


async def test_a_child_that_talks_more_than_a_pipe_holds_ends_although_its_log_takes_nothing(tmp_path: Path) -> None:
    spec = ChildSpec("talker", [sys.executable, "-c", TALKATIVE], grace_s=1.0)
    child = Child(spec, environment=dict(os.environ), folder=tmp_path, log=Path("/dev/full"))
    await child.start()
    assert await asyncio.wait_for(child.wait(), 30) == 0
    assert child.last_lines[-1] == "last words"


async def test_the_supervisor_goes_on_when_it_cannot_write_down_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = DataFolder(tmp_path), list[str]()

    def no_room(running: Running) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(folder, "announce", no_room)
    supervisor = Supervisor(
        folder, tmp_path, dict(os.environ), Running(pid=1), say=said.append, tell_ready=lambda running: None
    )
    child = await supervisor._start(ChildSpec("short", [sys.executable, "-c", ""], grace_s=1.0))
    assert await child.wait() == 0
    assert "cannot write down what runs here: [Errno 28] No space left on device" in said


async def test_a_server_that_gave_up_and_stays_alive_is_ended_so_that_it_can_be_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_module, "HOPELESS_PAUSE_S", 0.0)
    gives_up = f"import time; print('before {SECANTUS_PANIC.decode()}: no space', flush=True); time.sleep(600)"
    spec = ChildSpec("mongo", [sys.executable, "-c", gives_up], grace_s=1.0, hopeless=SECANTUS_PANIC)
    child, said = Child(spec, environment=dict(os.environ), folder=tmp_path, log=tmp_path / "log"), list[str]()
    child.on_warning = lambda name, line: said.append(f"{name} {line}")
    for _ in range(2):
        await child.start()
        assert await asyncio.wait_for(child.wait(), 30) == -signal.SIGKILL
    assert said == ["mongo can do nothing more until it is started again"] * 2


async def test_a_server_that_says_so_at_its_start_is_given_time_before_it_is_ended(tmp_path: Path) -> None:
    gives_up = f"import time; print('{SECANTUS_PANIC.decode()}', flush=True); time.sleep(1)"
    spec = ChildSpec("mongo", [sys.executable, "-c", gives_up], grace_s=1.0, hopeless=SECANTUS_PANIC)
    child = Child(spec, environment=dict(os.environ), folder=tmp_path, log=tmp_path / "log")
    await child.start()
    assert await asyncio.wait_for(child.wait(), 30) == 0


def test_the_bundled_store_is_watched_for_it(tmp_path: Path) -> None:
    specs = {spec.name: spec for spec in bundled_servers(DataFolder(tmp_path), {}).specs}
    assert specs["mongo"].hopeless == SECANTUS_PANIC


class Watched:
    """A supervisor that keeps a part alive which dies at once, saying `words`, on a disk that may be full."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, words: str = "") -> None:
        monkeypatch.setattr(watch, "RESTART_PAUSE_S", 0.01)
        monkeypatch.setattr(watch, "LONGEST_PAUSE_S", 0.05)
        monkeypatch.setattr(watch, "LOOK_FOR_ROOM_S", 0.01)
        monkeypatch.setattr(watch, "has_room", lambda folder: self.room)
        self.room = True
        self.said: list[str] = []
        self.supervisor = Supervisor(
            DataFolder(folder),
            folder,
            dict(os.environ),
            Running(pid=1),
            say=self.said.append,
            tell_ready=lambda running: None,
        )
        self.spec = ChildSpec("short", [sys.executable, "-c", f"print({words!r}); exit(1)"], grace_s=1.0)

    async def keep_alive(self) -> None:
        await self.supervisor._keep_alive(await self.supervisor._start(self.spec))

    def starts_in_vain(self) -> int:
        return sum("full" in line for line in self.said)


async def test_deaths_on_a_full_disk_are_not_counted_and_those_afterwards_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(tmp_path, monkeypatch)
    watched.room = False
    life = asyncio.create_task(watched.keep_alive())
    async with asyncio.timeout(60):
        while watched.starts_in_vain() < 5:
            await asyncio.sleep(0.01)
    assert not life.done()
    watched.room = True
    with pytest.raises(SupervisorError, match="death 3 within 60 s"):
        await asyncio.wait_for(life, 60)


async def test_a_part_that_says_that_a_disk_is_full_is_not_counted_wherever_that_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(tmp_path, monkeypatch, words="OSError: [Errno 28] No space left on device")
    life = asyncio.create_task(watched.keep_alive())
    async with asyncio.timeout(60):
        while watched.starts_in_vain() < 5:
            await asyncio.sleep(0.01)
    assert not life.done()
    life.cancel()
    await asyncio.gather(life, return_exceptions=True)


async def test_pauses_grow_while_a_disk_is_full_and_end_as_soon_as_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(tmp_path, monkeypatch)
    monkeypatch.setattr(watch, "RESTART_PAUSE_S", 0.3)
    monkeypatch.setattr(watch, "LONGEST_PAUSE_S", 15.0)
    watched.room = False
    asyncio.get_running_loop().call_later(0.1, setattr, watched, "room", True)
    before = time.monotonic()
    await watched.supervisor._wait_for_room("short ended", True, 20)
    assert time.monotonic() - before < 5
    assert "or in 15.0 s" in watched.said[-1]
    watched.room = False
    await watched.supervisor._wait_for_room("short ended", True, 0)
    assert "or in 0.3 s" in watched.said[-1]


async def test_what_runs_is_written_down_as_soon_as_there_is_room_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "WRITE_AGAIN_S", 0.01)
    watched = Watched(tmp_path, monkeypatch)
    state = tmp_path / "running.new"
    state.mkdir()  # stands in for a disk that takes nothing
    child = await watched.supervisor._start(watched.spec)
    await child.wait()
    keeper = asyncio.create_task(watched.supervisor._keep_announced())
    await asyncio.sleep(0.1)
    assert not (tmp_path / "running.json").exists()
    assert len([line for line in watched.said if "cannot write down" in line]) == 1
    state.rmdir()
    async with asyncio.timeout(60):
        while not (tmp_path / "running.json").exists():
            await asyncio.sleep(0.01)
    keeper.cancel()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own for a data folder; where nobody may mount one, pytest says so."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount_small_disk(disk, megabytes=300):
        pytest.skip("only root may mount a disk")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=False)


def fill(disk: Path) -> Path:
    """Leave no byte free; answers the file to delete."""
    filler = disk / "filler"
    file = os.open(filler, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    with contextlib.suppress(OSError):
        while True:
            os.write(file, bytes(1_000_000))
    os.close(file)
    return filler


def test_room_is_what_the_disk_would_still_take(small_disk: Path) -> None:
    assert has_room(small_disk)
    assert not has_room(small_disk, needed=400 << 20)
    filler = fill(small_disk)
    assert not has_room(small_disk)
    filler.unlink()
    assert has_room(small_disk)
    assert has_room(small_disk / "missing"), "another trouble than a full disk"
    assert list(small_disk.iterdir()) == []


def keeps_dying(arena: Arena, disk: Path) -> int:
    """How often the document store has ended for want of room. It frees a journal when it dies, with which it would
    start again: that room is taken, and if it was faster it is killed once more.
    """
    fill(disk)
    for process in arena.processes():
        with contextlib.suppress(psutil.NoSuchProcess):
            if "secantusd" in " ".join(process.cmdline()):
                process.kill()
    return sum("mongo" in line and "is full" in line for line in arena.errors)


def status(arena: Arena, path: str, data: bytes | None = None) -> int:
    request = urllib.request.Request(arena.url + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_arena_as_it_ships_outlives_a_full_disk(small_disk: Path, make_arena: MakeArena) -> None:
    arena = make_arena(small_disk / "arena")
    arena.start()
    filler = fill(small_disk)
    own = [name for name in ("mongo", "valkey") if name in arena.children()]
    for name in own:
        os.kill(arena.children()[name], signal.SIGKILL)
    wait_until(lambda: arena.health()[0] == 503)
    if "mongo" in own:  # which dies at every start: a crash loop, were it counted
        wait_until(lambda: keeps_dying(arena, small_disk) >= 4, seconds=240)
    assert arena.process.poll() is None, "".join(arena.errors[-20:])
    assert status(arena, "api/health/live") == 200
    if "DATABASE_URL" not in servers.given:
        assert status(arena, "api/sessions/init", b"{}") == 503

    filler.unlink()
    wait_until(lambda: arena.health()[0] == 200, seconds=240)  # a worker's start, beside other work
    assert status(arena, "api/sessions/init", b"{}") == 201
    assert set(arena.children()) == {"loader", "worker", "drawing", "beat", "web", *own}
    assert arena.stop() == 0
