"""A worker process that is killed in the middle of a rollout costs the visitor some seconds, and nothing else."""

from __future__ import annotations

import os
import signal

import psutil
import pymongo
import pytest

from tests.stack import Arena, wait_until
from tests.system.conftest import MakeArena
from tests.visitor import Visitor

# Two contestants that need no weights: the scripted expert under two names.
ENTER_CONTESTANTS = """
from policies.models import Policy
Policy.objects.update(status="retired")
for name in ("first", "second"):
    Policy.objects.create(id=name, name=name, family="test", adapter="expert", status="active")
"""
STACK = "Stack the red cube on the yellow cube"


@pytest.fixture(scope="module")
def arena(make_arena: MakeArena) -> Arena:
    arena = make_arena()
    arena.start()
    arena.manage("shell", "--verbosity", "0", "-c", ENTER_CONTESTANTS)
    return arena


@pytest.mark.slow
def test_the_turn_completes_although_both_worker_processes_were_killed_while_they_played(arena: Arena) -> None:
    """The expert plays in a tenth of a second: a kill may hit between two rollouts, of which then none is retried."""
    visitor, tries = Visitor(arena.url), [0]
    while max(tries) < 2 and len(tries) < 10:
        turn_id = kill_workers_mid_rollout(arena, visitor)
        turn = visitor.wait_for_turn(turn_id, seconds=90)
        assert turn["status"] == "completed"
        episodes = [stored(arena, turn[side]["episode_id"]) for side in ("left", "right")]
        assert {episode["turn_id"] for episode in episodes} == {turn_id}
        tries += [int(str(episode["attempt"])) for episode in episodes]
    assert max(tries) == 2


def kill_workers_mid_rollout(arena: Arena, visitor: Visitor) -> str:
    """Play turns until the processes that play one are killed before it is over; answers that turn."""
    for _ in range(10):
        turn_id = visitor.send_turn(visitor.open_battle(), STACK)
        wait_until(lambda turn_id=turn_id: visitor.get(f"/api/turns/{turn_id}")[1]["status"] != "queued")
        for process in psutil.Process(arena.children()["worker"]).children():
            os.kill(process.pid, signal.SIGKILL)
        if visitor.get(f"/api/turns/{turn_id}")[1]["status"] == "running":
            return turn_id
        arena.wait_healthy()
    raise AssertionError("every turn was over before its workers could be killed")


def stored(arena: Arena, episode_id: str) -> dict[str, object]:
    asked = "from django.conf import settings; print(settings.MONGO_URL, settings.MONGO_DATABASE)"
    url, database = arena.manage("shell", "--verbosity", "0", "-c", asked).split()[-2:]
    with pymongo.MongoClient(url) as client:
        episode = client[database]["episodes"].find_one(episode_id, {"turn_id": 1, "attempt": 1})
    assert episode is not None
    return episode
