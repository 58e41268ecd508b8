"""What a worker opens before it forks is open in its processes, and plays there as anywhere."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.conf import settings as site

from policies.models import Policy
from policies.policy_cache import Device, Key
from robots import runtime as robots_runtime
from robots.runtime import WorkerRuntime, open_before_fork, own_device
from simulation.worlds import load_world

SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "weights"
TABLE = [("widowx", "table")]
FORK = """
import os, sys, django
django.setup()
import numpy as np
from policies.models import Policy
from robots import play, runtime
from robots.players import open_folder
from pathlib import Path
folder = Path(sys.argv[1])
policy = Policy(id=folder.name, adapter=sys.argv[2], model_path=str(folder), revision="1")
cache = runtime.open_before_fork([policy], [("widowx", "table")])
runtime.open_player = None  # nothing may be opened again
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
process = runtime.WorkerRuntime(cache=cache)
environment = process.environment("widowx", "table")
environment.reset(3)
player, other = process.player(policy, "widowx", "table"), open_folder(folder, environment)
for each in (player, other):
    each.reset("pick up the red cube", 5)
seen = environment.observe("pick up the red cube", cameras=player.cameras)
assert np.array_equal(player.infer(seen), other.infer(seen))
print("played", flush=True)
os._exit(0)
"""


def named(name: str, adapter: str = "film") -> Policy:
    return Policy(id=name, adapter=adapter, model_path=str(SHIPPED / name), revision="1")


@pytest.mark.timeout(900)  # a new process that loads torch, which takes long on a machine that has little time left
@pytest.mark.parametrize(
    ("name", "adapter"), [("film-worlds", "film"), ("octo-mini", "octo"), ("openvla-mini", "openvla")]
)
def test_a_forked_process_plays_what_was_opened_before_and_answers_as_one_that_opened_it(
    name: str, adapter: str
) -> None:
    found = subprocess.run(
        [sys.executable, "-c", FORK, str(SHIPPED / name), adapter],
        env={
            "DJANGO_SETTINGS_MODULE": "vlaarena.settings",
            "PATH": "/usr/bin:/bin",
            "MUJOCO_GL": "osmesa",
            "LP_NUM_THREADS": "0",
            "OMP_NUM_THREADS": "1",
        },
        cwd=SHIPPED.parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout.split()[-1:]) == (0, ["played"]), found.stderr


def test_the_scenes_are_compiled_and_the_policies_open_and_unused() -> None:
    cache = open_before_fork([named("film-small")], TABLE)
    (entry,) = cache.entries
    assert (entry.key, entry.users) == (Key("film-small", "1", str(SHIPPED / "film-small"), ""), 0)
    assert WorkerRuntime(cache=cache).environment(*TABLE[0]).world is load_world(*TABLE[0])


def test_what_cannot_be_opened_is_left_to_the_processes(tmp_path: Path) -> None:
    broken = Policy(id="broken", adapter="film", model_path=str(tmp_path), revision="1")
    cache = open_before_fork([broken, named("film-small")], TABLE)
    assert [entry.key.model_id for entry in cache.entries] == ["film-small"]


def test_remote_policies_and_references_are_left_to_the_processes() -> None:
    others = [named("film-small", "remote"), named("film-small", "still"), named("film-small", "expert")]
    assert open_before_fork(others, TABLE).entries == []


def test_nothing_is_opened_for_a_graphics_card(monkeypatch: pytest.MonkeyPatch) -> None:
    card: Device = replace(own_device(), name="cuda")
    monkeypatch.setattr(robots_runtime, "own_device", lambda: card)
    assert open_before_fork([named("film-small")], TABLE).entries == []


def test_no_more_is_opened_than_a_process_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "WORKER_MEMORY_GB", 2e-3)  # film-small takes 1.1 MB, film-base 1.5
    cache = open_before_fork([named("film-small"), named("film-base")], TABLE)
    assert [entry.key.model_id for entry in cache.entries] == ["film-small"]
