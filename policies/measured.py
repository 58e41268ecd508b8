"""How often a policy reached its goals before it was entered, according to its card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

UNSHIFTED = "table"  # the suite whose scenes are drawn as the training's were


class Counts(NamedTuple):
    """Over all tasks of the unshifted suite; no episodes where nothing was measured."""

    successes: int
    episodes: int


def counts(card: Mapping[str, Any]) -> Counts:
    """From a policy.json."""
    suite = (card.get("measured") or {}).get(UNSHIFTED)
    tasks = suite.get("tasks", {}).values() if isinstance(suite, Mapping) else ()
    return Counts(sum(row["successes"] for row in tasks), sum(row["episodes"] for row in tasks))
