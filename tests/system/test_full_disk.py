"""A disk without room for another line of log neither blocks a part nor ends the arena."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
from pathlib import Path

import pytest

from vlaarena.bundled import SECANTUS_PANIC
from vlaarena.supervisor import child as child_module
from vlaarena.supervisor.child import Child, ChildSpec
from vlaarena.supervisor.folder import DataFolder, Running
from vlaarena.supervisor.plan import bundled_servers
from vlaarena.supervisor.watch import Supervisor

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
