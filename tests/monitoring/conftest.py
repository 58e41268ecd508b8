"""What is logged, as programs read it; and people who may look."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from structlog.contextvars import clear_contextvars

from vlaarena.monitoring import logs
from vlaarena.monitoring.logs import Brief, Newsworthy

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def _no_ids_left_over() -> None:
    """A client's last request was in this thread."""
    clear_contextvars()


@pytest.fixture
def logged() -> Iterator[Lines]:
    """The lines of this test so far, each as its fields."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.formatter("json"))
    for each in (Newsworthy(), Brief()):
        handler.addFilter(each)
    logging.getLogger().addHandler(handler)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    logging.getLogger().removeHandler(handler)
