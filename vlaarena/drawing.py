"""The Celery application of the drawing worker: `celery -A vlaarena.drawing worker`.

It takes from one queue: drawings, what the admin has tried, and the evaluation of calls. It plays no attempts, so it
loads no policies and announces nothing. It answers no pings: those ask for workers that play.
"""

import gc
import os
from typing import Any

from celery import Celery
from celery.signals import celeryd_after_setup
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "vlaarena.settings")

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
