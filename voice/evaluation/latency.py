"""How long callers wait: from recordings of both sides on one clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from voice.speech.turns import Span


class Latency(NamedTuple):
    """Of the answers in one conversation [ms]; None without any."""

    average_ms: float | None
    p50_ms: float | None
    p95_ms: float | None


def waits(caller: Sequence[Span], agent: Sequence[Span]) -> list[float]:
    """For each utterance of the caller that the agent answered: the time [ms] from its end to the agent's first speech.

    The answer is the first utterance of the agent that begins after the caller's has ended, and before the caller's
    next one begins. Where the agent begins while the caller speaks, there is no wait to measure.
    """
    found = []
    for index, span in enumerate(caller):
        until = caller[index + 1].start_ms if index + 1 < len(caller) else float("inf")
        answer = next((each.start_ms for each in agent if span.end_ms <= each.start_ms < until), None)
        if answer is not None:
            found.append(answer - span.end_ms)
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share (0..1) of them lies, by linear interpolation between the closest ranks (type 7
    of Hyndman and Fan, 1996). Raises ValueError for no values or another share."""
    if not values or not 0 <= share <= 1:
        raise ValueError(f"expected values and a share from 0 to 1, got {len(values)} values and {share}")
    ranked = sorted(values)
    at = (len(ranked) - 1) * share
    low = int(at)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (ranked[high] - ranked[low]) * (at - low)


def latency(waited: Sequence[float]) -> Latency:
    """Average, median and 95th percentile of waits [ms]."""
    if not waited:
        return Latency(None, None, None)
    return Latency(sum(waited) / len(waited), percentile(waited, 0.5), percentile(waited, 0.95))
