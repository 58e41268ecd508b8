"""Several web processes serve one port, count together, and come and go without anybody being refused."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stack import Arena, wait_until
from tests.visitor import Visitor
from vlaarena.supervisor import plan

pytestmark = pytest.mark.engine

SESSIONS = 6


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    shared = {"CACHE_URL": os.environ["CHANNEL_URL"]} if "CHANNEL_URL" in os.environ else {}  # else the bundled one
    arena = Arena(tmp_path, ARENA_WEB_PROCESSES="2", ARENA_SESSIONS_PER_ADDRESS=f"{SESSIONS}/hour", **shared)
    try:
        arena.start()
        yield arena
    finally:
        arena.close()


@pytest.mark.slow
@pytest.mark.stack
def test_two_web_processes_are_one_arena(arena: Arena) -> None:
    webs = {name: pid for name, pid in arena.children().items() if name.startswith("web")}
    assert set(webs) == {"web", "web-2"}

    opened = [Visitor(arena.url).post("/api/sessions/init")[0] for _ in range(2 * SESSIONS)]
    assert opened == [201] * SESSIONS + [429] * SESSIONS, "each counts for itself"

    os.kill(webs["web"], signal.SIGKILL)
    answers = [Visitor(arena.url).get("/api/tasks")[0] for _ in range(20)]
    assert set(answers) == {200}, "the other one answers meanwhile"
    wait_until(lambda: arena.children()["web"] != webs["web"])
    os.kill(webs["web-2"], signal.SIGKILL)
    assert {Visitor(arena.url).get("/api/tasks")[0] for _ in range(20)} == {200}
    assert arena.stop() == 0
    assert arena.processes() == []


def test_one_web_process_listens_by_itself_and_several_on_one_socket() -> None:
    def webs(processes: int, socket: int | None) -> list[list[str]]:
        web: dict[str, Any] = {"host": "127.0.0.1", "port": 8000, "web_processes": processes, "socket": socket}
        specs = plan.parts(queues=["default"], worker_processes=1, **web)
        return [list(spec.command) for spec in specs if spec.name.startswith("web")]

    (alone,) = webs(1, None)
    assert alone[alone.index("--port") + 1] == "8000"
    several = webs(3, 7)
    assert len(several) == 3
    assert {command[command.index("--fd") + 1] for command in several} == {"7"}


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({"ARENA_WEB_PROCESSES": "0"}, "ARENA_WEB_PROCESSES=0; expected a whole number from 1"),
        (
            {
                "ARENA_WEB_PROCESSES": "2",
                "BROKER_URL": "redis://127.0.0.1:1/0",
                "CHANNEL_URL": "redis://127.0.0.1:1/1",
                "CACHE_URL": "",
            },
            "need a cache that they share",
        ),
    ],
)
def test_numbers_of_processes_that_cannot_work_are_refused(
    tmp_path: Path, environment: dict[str, str], complaint: str
) -> None:
    arena = Arena(tmp_path, **environment)
    try:
        arena.launch()
        assert arena.process.wait(60) != 0
        wait_until(lambda: any(complaint in line for line in arena.errors))
    finally:
        arena.close()
