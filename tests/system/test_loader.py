"""What the loader forks is a process of the supervisor's like any other."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from tests.stack import BASE_DIR, wait_until
from vlaarena.supervisor import plan
from vlaarena.supervisor.child import Child, ChildSpec
from vlaarena.supervisor.forked import Loader

TELLS = """
import os, sys
from django.conf import settings
print("argv", sys.argv[1:])
print("alone", os.getsid(0) == os.getpid(), os.getppid() == int(sys.argv[1]))
print("kinds", settings.WORKER_KINDS)
print("niceness", os.nice(0))
print("stdin", repr(sys.stdin.read()))
print("an error", file=sys.stderr)
sys.exit(7)
"""
WAITS = "import signal; print('waits', flush=True); signal.pause()"
WITH_A_CHILD = """
import signal, subprocess, sys
print(subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]).pid, flush=True)
signal.pause()
"""
OPEN = """
import os, sys
for number in sys.argv[1:]:
    try:
        os.fstat(int(number))
        print(number, "open")
    except OSError:
        print(number, "closed")
"""


@pytest.fixture
async def loader(tmp_path: Path) -> AsyncIterator[Loader]:
    spec = plan.loader()
    assert spec is not None
    environment = {**os.environ, "ARENA_DATA": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    made = Loader(spec, environment=environment, folder=BASE_DIR, log=tmp_path / "loader.log")
    await made.start()
    yield made
    await made.stop()


def part(loader: Loader, tmp_path: Path, code: str, *words: str, **spec: object) -> Child:
    """A part that runs this code."""
    file = tmp_path / "part.py"
    file.write_text(code)
    whole = ChildSpec("part", [sys.executable, str(file), *words], grace_s=1.0, forked=True)
    return Child(
        replace(whole, **spec),  # type: ignore[arg-type]
        environment={},
        folder=BASE_DIR,
        log=tmp_path / "part.log",
        loader=loader,
    )


async def said(child: Child, words: str) -> None:
    while words not in "\n".join(child.last_lines):
        await asyncio.sleep(0.05)


async def test_a_part_is_a_process_as_if_it_were_started_alone(loader: Loader, tmp_path: Path) -> None:
    environment = (("ARENA_WORKER_KINDS", "text,voice"),)
    child = part(loader, tmp_path, TELLS, str(loader.pid), "--word", niceness=3, environment=environment)
    await child.start()
    assert await child.wait() == 7
    assert list(child.last_lines) == [
        f"argv ['{loader.pid}', '--word']",
        "alone True True",
        "kinds ['text', 'voice']",
        f"niceness {os.nice(0) + 3}",
        "stdin ''",
        "an error",
    ]


async def test_a_part_is_asked_to_end_and_killed_with_all_it_started(loader: Loader, tmp_path: Path) -> None:
    child = part(loader, tmp_path, WAITS)
    await child.start()
    await said(child, "waits")
    await child.stop()
    assert await child.wait() == -signal.SIGTERM

    child = part(loader, tmp_path, WITH_A_CHILD)
    await child.start()
    while not child.last_lines:
        await asyncio.sleep(0.05)
    grandchild = psutil.Process(int(child.last_lines[0]))
    child.kill()
    assert await child.wait() == -signal.SIGKILL
    wait_until(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE, 30)


async def test_when_the_loader_dies_its_parts_do_and_start_again_once_it_is_back(
    loader: Loader, tmp_path: Path
) -> None:
    child = part(loader, tmp_path, WAITS)
    await child.start()
    await said(child, "waits")
    first = child.pid
    assert loader.pid is not None
    os.kill(loader.pid, signal.SIGKILL)
    assert await loader.wait() == -signal.SIGKILL
    assert await child.wait() == -signal.SIGKILL
    wait_until(lambda: not psutil.pid_exists(first or 0), 30)

    starting = asyncio.create_task(child.start())
    await loader.start()
    await starting
    assert child.pid != first
    await said(child, "waits")


async def test_a_part_keeps_its_own_sockets_alone(tmp_path: Path) -> None:
    spec = plan.loader()
    assert spec is not None
    with open(os.devnull) as one, open(os.devnull) as other:
        numbers = (one.fileno(), other.fileno())
        environment = {**os.environ, "ARENA_DATA": str(tmp_path)}
        made = Loader(replace(spec, sockets=numbers), environment=environment, folder=BASE_DIR, log=tmp_path / "log")
        await made.start()
        try:
            child = part(made, tmp_path, OPEN, *map(str, numbers), sockets=numbers[:1])
            await child.start()
            assert await child.wait() == 0
            assert list(child.last_lines) == [f"{numbers[0]} open", f"{numbers[1]} closed"]
        finally:
            await made.stop()


def loaded(folder: Path, asked: str, **environment: str) -> str:
    """What the code prints where the loader has loaded everything."""
    told = subprocess.run(
        [sys.executable, "-c", f"from vlaarena.supervisor import loader; loader.load(); {asked}"],
        cwd=BASE_DIR,
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "vlaarena.settings",
            **plan.WORKER_ENVIRONMENT,
            "ARENA_DATA": str(folder),
            **environment,
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
    )
    return told.stdout.split("\n")[0]


def test_the_loader_has_one_thread_and_no_connection_when_it_forks(tmp_path: Path) -> None:
    """Threads are not forked, and a connection must not have two owners."""
    asked = (
        "import psutil; me = psutil.Process(); "
        "print(me.num_threads(), me.net_connections(), [each.path for each in me.open_files()])"
    )
    assert loaded(tmp_path, asked, ARENA_KINDS="robots,text") == "1 [] []"


@pytest.mark.parametrize(
    ("kinds", "renderer", "expected"),
    [
        ("robots,text", "osmesa", {"mujoco", "openai"}),
        ("robots", "osmesa", {"mujoco"}),
        ("robots,text", "disable", {"openai"}),  # in place of egl, which needs a card
    ],
)
def test_the_loader_loads_what_several_parts_need(
    tmp_path: Path, kinds: str, renderer: str, expected: set[str]
) -> None:
    asked = "import sys; print(*{'mujoco', 'openai', 'torch', 'onnxruntime', 'arena.tasks'}.intersection(sys.modules))"
    assert {*loaded(tmp_path, asked, ARENA_KINDS=kinds, MUJOCO_GL=renderer).split()} == expected
