"""A policy's overall success rate according to its card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proportions import Success, success_rate

UNSHIFTED = "table"  # the suite whose scenes are drawn as the training's were


def overall(card: Mapping[str, Any]) -> Success | None:
    """The success rate over all tasks of the unshifted suite, from a policy.json; None when it was not measured."""
    suite = (card.get("measured") or {}).get(UNSHIFTED)
    tasks = suite.get("tasks", {}) if isinstance(suite, Mapping) else {}
    counts = [(row["episodes"], row["successes"]) for row in tasks.values()]
    episodes, successes = sum(count for count, _ in counts), sum(count for _, count in counts)
    return success_rate(successes, episodes) if episodes else None
