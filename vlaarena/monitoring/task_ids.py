"""Adds the task's id to the log lines of a worker, and makes Celery log in the site's format.

A turn's row keeps the id of its request (`arena.models.Turn.request_id`), so that the turn can be followed across
processes however often its message is sent. `robots.play` binds that id with the turn's other ids.
"""

from __future__ import annotations

import logging.config
from typing import Any

from celery.signals import setup_logging, task_postrun, task_prerun
from django.conf import settings
from structlog.contextvars import bind_contextvars, clear_contextvars


def bind_task(task_id: str, **_: Any) -> None:
    clear_contextvars()
    bind_contextvars(task_id=task_id)


def forget_task(**_: Any) -> None:
    clear_contextvars()


def log_as_the_site_does(**_: Any) -> None:
    """In place of Celery's own format."""
    logging.config.dictConfig(settings.LOGGING)


task_prerun.connect(bind_task)
task_postrun.connect(forget_task)
setup_logging.connect(log_as_the_site_does)
