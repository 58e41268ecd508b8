"""How hard the fuzzing tries, and how often it has: FUZZ_EFFORT multiplies the tries, FUZZ_SEED draws other ones.

Without them every run draws the same cases, so that a test that fails for one fails for all.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

import hypothesis
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

EFFORT = int(os.environ.get("FUZZ_EFFORT", "1"))
SEED = int(os.environ["FUZZ_SEED"]) if "FUZZ_SEED" in os.environ else None
tried: Counter[str] = Counter()
"""What was fuzzed -> cases tried in this run."""

# A fixture holds a place (a folder, a socket, a database) that every case may find as the last one left it.
SUPPRESSED = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def fuzz(subject: str, tries: int, **drawn: SearchStrategy[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Run a test `tries` times FUZZ_EFFORT with arguments drawn from these strategies, counted under `subject`."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(test)
        def counted(*args: Any, **kwargs: Any) -> Any:
            tried[subject] += 1
            return test(*args, **kwargs)

        chosen = settings(
            max_examples=tries * EFFORT,
            derandomize=SEED is None,
            database=None,
            deadline=None,
            suppress_health_check=SUPPRESSED,
        )
        fuzzed = chosen(given(**drawn)(counted))
        return fuzzed if SEED is None else hypothesis.seed(SEED)(fuzzed)

    return decorate
