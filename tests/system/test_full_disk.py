"""A disk without room for another line of log neither blocks a part nor ends the arena."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from pathlib import Path

import pytest

from vlaarena.supervisor.child import Child, ChildSpec
from vlaarena.supervisor.folder import DataFolder, Running
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
