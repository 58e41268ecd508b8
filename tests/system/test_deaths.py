"""Parts that die come back; those that keep dying end everything; a killed supervisor leaves nothing behind."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from tests.stack import Arena, wait_until
from tests.system.conftest import MakeArena


@pytest.fixture(scope="module")
def arena(make_arena: MakeArena) -> Arena:
    arena = make_arena()
    arena.start()
    return arena


@pytest.mark.parametrize("part", ["web", "worker", "beat", "mongo", "valkey", "loader"])
def test_a_killed_part_is_started_again(arena: Arena, part: str) -> None:
    if part not in arena.children():
        return  # this run was given a server of that kind, so the arena starts none
    pid = arena.children()[part]
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: arena.children()[part] != pid)
    arena.wait_healthy()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []
    assert any(f"{part} was killed by SIGKILL; starting it again" in line for line in arena.errors)


@pytest.mark.slow
def test_after_a_killed_supervisor_nothing_is_left_and_the_next_start_works(make_arena: MakeArena) -> None:
    arena = make_arena()
    arena.start()
    arena.manage(
        "shell", "--verbosity", "0", "-c", "from django.contrib.auth.models import User; User(username='a').save()"
    )
    arena.process.kill()
    arena.process.wait()
    wait_until(lambda: arena.processes() == [])

    arena.start()
    asked = "from django.contrib.auth.models import User; print(User.objects.filter(username='a').count())"
    assert arena.manage("shell", "--verbosity", "0", "-c", asked).strip().endswith("1")


@pytest.mark.slow
def test_the_third_death_within_a_minute_stops_everything_and_shows_the_last_lines(make_arena: MakeArena) -> None:
    arena = make_arena()
    arena.start()
    for _ in range(2):
        pid = arena.children()["web"]
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda pid=pid: arena.children()["web"] != pid)
        arena.wait_healthy()
    os.kill(arena.children()["web"], signal.SIGKILL)
    assert arena.process.wait(60) != 0
    told = "".join(arena.errors)
    _, death, last_lines = told.partition("web was killed by SIGKILL, death 3 within 60 s. Its last lines:")
    assert death, told
    assert "Starting server" in last_lines
    assert "Traceback" not in last_lines
    assert arena.processes() == []
