"""What is not worth a line in the log."""

from __future__ import annotations

import logging

ASKED_ALL_THE_TIME = ("/api/health", "/metrics")


class Newsworthy(logging.Filter):
    """Leaves out what Django says of a 503 of the health addresses: their caller asked, and was told."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return not is_asked_all_the_time(getattr(request, "path", ""))


def is_asked_all_the_time(path: str) -> bool:
    return path.startswith(ASKED_ALL_THE_TIME)
