"""What is not worth a line in the log, or many."""

from __future__ import annotations

import logging

ASKED_ALL_THE_TIME = ("/api/health", "/metrics")


class Newsworthy(logging.Filter):
    """Leaves out what Django says of a 503 of the health addresses: their caller asked, and was told."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return not is_asked_all_the_time(getattr(request, "path", ""))


class Brief(logging.Filter):
    """Keeps the line about a request that Django refused as suspicious, and leaves out where in Django that was."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security."):
            record.exc_info = record.exc_text = None
        return True


def is_asked_all_the_time(path: str) -> bool:
    return path.startswith(ASKED_ALL_THE_TIME)
