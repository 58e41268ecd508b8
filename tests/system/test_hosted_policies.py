"""Two workers, each with policies of its own: rollouts find the one that hosts their policy; no other is drawn."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.stack import BASE_DIR, Arena, wait_until
from tests.system.conftest import MakeArena
from tests.visitor import Visitor

# Contestants that need no weights: the scripted expert under three names.
ENTER_CONTESTANTS = """
from datetime import timedelta
from django.utils import timezone
from policies.models import Policy
Policy.objects.update(status="retired")
long_ago = timezone.now() - timedelta(hours=1)
for name in ("first", "second", "third"):
    Policy.objects.create(id=name, name=name, family="test", adapter="expert", created_at=long_ago)
"""
DRAWN = "from arena.models import Battle; print(*Battle.objects.values_list('left_model_id', 'right_model_id'))"
RETIRE = "from policies.models import Policy; Policy.objects.get(id='first').retire('to make room')"


@pytest.fixture(scope="module")
def arena(make_arena: MakeArena) -> Arena:
    arena = make_arena(ARENA_WORKER_POLICIES="first,second", ARENA_WORKERS="1")
    arena.start()
    shell(arena, ENTER_CONTESTANTS)
    return arena


@pytest.fixture
def far_worker(arena: Arena) -> Iterator[subprocess.Popen[bytes]]:
    """A worker started by hand, as on another host: threads instead of processes, and one policy."""
    command = [sys.executable, "-m", "celery", "-A", "vlaarena", "worker", "--pool", "threads", "--concurrency", "2"]
    worker = subprocess.Popen(
        [*command, "--hostname", "far@%h", "--without-gossip", "--without-mingle"],
        cwd=BASE_DIR,
        env={**arena.environment, "ARENA_WORKER_POLICIES": "third", "MUJOCO_GL": "osmesa", "LP_NUM_THREADS": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield worker
    worker.kill()
    worker.wait()


def shell(arena: Arena, code: str) -> str:
    return arena.manage("shell", "--verbosity", "0", "--no-imports", "-c", code)


def hosted(visitor: Visitor) -> dict[str, Any]:
    _, models = visitor.get("/api/models")
    return {model["model_id"]: model["hosted"] for model in models["results"] if model["family"] == "test"}


@pytest.mark.slow
def test_rollouts_go_to_the_worker_that_hosts_their_policy(arena: Arena, request: pytest.FixtureRequest) -> None:
    visitor = Visitor(arena.url)
    wait_until(lambda: hosted(visitor) == {"first": True, "second": True, "third": False})
    for _ in range(6):
        visitor.open_battle()
    assert "third" not in shell(arena, DRAWN)
    turn = visitor.wait_for_turn(visitor.send_turn(visitor.open_battle(), "Pick up the red cube"))
    assert turn["status"] == "completed"

    far = request.getfixturevalue("far_worker")
    wait_until(lambda: hosted(visitor) == {"first": True, "second": True, "third": True})
    shell(arena, RETIRE)
    battle_id = visitor.open_battle()
    turn = visitor.wait_for_turn(visitor.send_turn(battle_id, "Pick up the red cube"))
    assert turn["status"] == "completed"

    far.terminate()
    wait_until(lambda: hosted(visitor) == {"first": True, "second": True, "third": False})
    status, refused = visitor.post(f"/api/battles/{battle_id}/turns", {"instruction": "Pick up the red cube"})
    assert (status, refused["code"]) == (503, "not_hosted")
