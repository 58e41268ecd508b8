"""What is not worth a line in the log."""

from __future__ import annotations

import logging


def is_no_health_answer(record: logging.LogRecord) -> bool:
    """False for Django's error line about a 503 of the health address: its caller asked, and was told."""
    request = getattr(record, "request", None)
    return getattr(request, "path", "") != "/api/health"
