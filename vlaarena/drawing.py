"""The Celery application of the drawing worker: `celery -A vlaarena.drawing worker`.

It takes from one queue: drawings, what the admin has tried, and the evaluation of calls. It plays no attempts, so it
loads no policies and announces nothing. It answers no pings: those ask for workers that play. Its process frees what it
draws with once it has had nothing to draw for a while.
"""

import gc
import os
import signal
import sys
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup, task_postrun, task_prerun, worker_process_init
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

IDLE_S = 10

app = Celery("drawing", set_as_current=True)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    imports=["arena.drawings.tasks", "robots.trial_tasks", "voice.tasks"],
    task_default_queue=settings.DRAWINGS_QUEUE,
    worker_enable_remote_control=False,
    worker_max_tasks_per_child=500,
)


@celeryd_after_setup.connect  # type: ignore[untyped-decorator]
def freeze(**_: Any) -> None:
    """Before the fork: garbage collection would write to every object that parent and child share."""
    gc.collect()
    gc.freeze()


@worker_process_init.connect  # type: ignore[untyped-decorator]
def rest_when_idle(**_: Any) -> None:
    """An alarm, not a thread: a renderer belongs to the thread that made it, which waits for the next task."""
    signal.signal(signal.SIGALRM, rest)
    task_prerun.connect(_stay_awake)
    task_postrun.connect(_rest_soon)


def rest(*_: object) -> None:
    if "simulation.pictures" in sys.modules:  # nothing is drawn without it
        sys.modules["simulation.pictures"].put_away()
        sys.modules["simulation.trimming"].trim()


def _stay_awake(**_: Any) -> None:
    signal.alarm(0)


def _rest_soon(**_: Any) -> None:
    if "simulation.trimming" in sys.modules:
        sys.modules["simulation.trimming"].give_back()
    signal.alarm(IDLE_S)
