"""A beat scheduler for hosts whose clock may be set back."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django_celery_beat.schedulers import DatabaseScheduler

log = logging.getLogger(__name__)
SLACK = timedelta(seconds=1)


class Scheduler(DatabaseScheduler):
    """Treats a task whose last run lies in the future as having run just now.

    Celery would wait until the clock has caught up with that run: set back by an hour, it runs no sweep for an hour.
    """

    def tick(self, *args: Any, **kwargs: Any) -> float:
        self._return_from_the_future()
        wait: float = super().tick(*args, **kwargs)
        return wait

    def _return_from_the_future(self) -> None:
        now = timezone.now()
        ahead = [entry for entry in self.schedule.values() if entry.last_run_at > now + SLACK]
        if not ahead:
            return
        log.warning("The clock was set back: %s ran in the future", ", ".join(entry.name for entry in ahead))
        for entry in ahead:
            entry.last_run_at = entry.model.last_run_at = now
        self._heap = None  # its times are those of the clock before the change
