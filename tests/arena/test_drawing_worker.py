"""The drawing worker: it knows every task that is sent to its queue, and is no worker that plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from arena.drawings import asking
from robots import remote_trials, scene_trials, task_trials
from tests.stack import BASE_DIR

LISTED = """
import json, sys
from vlaarena.drawing import app
app.loader.import_default_modules()
app.finalize()
plays = [name for name in ("arena.queue.worker", "torch") if name in sys.modules]
print(json.dumps({"tasks": sorted(app.tasks), "plays": plays}))
"""

RESTS = """
import os, signal, time
from celery.signals import task_postrun, task_prerun, worker_process_init
from vlaarena import drawing
import django
django.setup()
from simulation import pictures
from simulation.worlds import load_world
import psutil

def megabytes():
    return psutil.Process().memory_info().rss / 1e6

drawing.IDLE_S = 1
worker_process_init.send(None)
world = load_world("widowx", "table")
pictures._world_of = lambda document: world

def draw():
    task_prerun.send(None, task_id="one", task=None)
    drawn = pictures.artist_of({}).draw(world.model.qpos0)
    time.sleep(1.5)  # longer than the pause: a task that draws is not disturbed
    assert pictures._own.artist._kept is not None
    task_postrun.send(None, task_id="one", task=None)
    return drawn

draw()
first, busy = draw(), megabytes()
signal.pause()  # for the alarm
assert "artist" not in pictures._own.__dict__
assert megabytes() < busy - 35, (busy, megabytes())
assert (draw() == first).all()
os._exit(0)
"""


def test_it_knows_what_is_sent_to_it_and_opens_no_policies() -> None:
    told = subprocess.run(
        [sys.executable, "-c", LISTED], cwd=BASE_DIR, capture_output=True, text=True, timeout=120, check=True
    )
    found = json.loads(told.stdout)
    wanted = {asking.DRAW, asking.DRAW_BATTLE, task_trials.TRY, scene_trials.TRY, remote_trials.TRY}
    assert wanted <= set(found["tasks"])
    assert found["plays"] == []


def test_its_process_gives_back_what_it_draws_with_when_idle_and_draws_the_same_afterwards() -> None:
    told = subprocess.run(
        [sys.executable, "-c", RESTS],
        cwd=BASE_DIR,
        env={**os.environ, "MUJOCO_GL": "osmesa", "LP_NUM_THREADS": "0"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert told.returncode == 0, told.stderr
