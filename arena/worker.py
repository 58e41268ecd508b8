"""A worker's start: the parent loads the libraries, each of its processes opens the policies and scenes it plays."""

from __future__ import annotations

import logging
from typing import Any

from celery.signals import worker_init, worker_process_init, worker_ready
from django.db import DatabaseError

log = logging.getLogger(__name__)


def load_libraries(**_: Any) -> None:
    """Imported before the fork, so that all processes share the memory of torch and mujoco."""
    from arena import episodes  # noqa: F401


def preload(**_: Any) -> None:
    from arena import episodes

    episodes.prepare_process()


def sweep_once(**_: Any) -> None:
    """What the last worker left behind need not wait for the next sweep."""
    from arena import sweeps

    try:
        sweeps.sweep()
    except DatabaseError:
        log.exception("The first sweep failed; beat asks for another soon")


worker_init.connect(load_libraries)
worker_process_init.connect(preload)
worker_ready.connect(sweep_once)
