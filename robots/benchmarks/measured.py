"""What `manage.py evaluate ID --suite ... --record` measured, from measured.json. Needs neither Django nor physics."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proportions import Success, success_rate

FILE = Path(__file__).parent / "measured.json"
ANY_STEP, LAST_STEP = "latched", "last"
"""When success was counted: at any step, or at the last one."""
READS_STATE, SAW_STARTS, NEAR_STARTS, STILL = "reads-state", "saw-starts", "near-starts", "still"
"""What a reader has to know of a policy: see robots.benchmarks.tables.NOTES."""


class CannotRecord(Exception):
    """The text says why."""


@dataclass(frozen=True)
class Measured:
    """A policy's episodes in a suite ("bridge", "libero-goal"). `tasks`: task -> how counted -> successes, episodes."""

    suite: str
    policy: str
    name: str
    revision: str
    note: str
    engine: str
    day: str
    tasks: Mapping[str, Mapping[str, tuple[int, int]]]

    def rate(self, task: str, counted: str) -> Success:
        return success_rate(*self.tasks[task][counted])

    def overall(self, counted: str) -> Success:
        """Over all tasks together."""
        return pooled(counts[counted] for counts in self.tasks.values())


def pooled(counts: Iterable[tuple[int, int]]) -> Success:
    """The rate of several (successes, episodes) as one."""
    successes, episodes = zip(*counts, strict=True)
    return success_rate(sum(successes), sum(episodes))


def measured() -> list[Measured]:
    """All rows, by suite and then as they were recorded first."""
    return [_read(row) for row in json.loads(FILE.read_text("utf-8"))]


def counts_of(scores: Mapping[str, Any]) -> dict[str, dict[str, tuple[int, int]]]:
    """The counts of a suite's answer: task -> Success, or task -> how counted -> Success."""
    found = {task: score if LAST_STEP in score else {ANY_STEP: score} for task, score in scores.items()}
    return {
        task: {kind: (score["successes"], score["episodes"]) for kind, score in row.items()}
        for task, row in found.items()
    }


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def record(row: Measured) -> None:
    """Add the row, in place of this policy's earlier one of the suite. Raises CannotRecord."""
    rows = measured()
    known = [(each.suite, each.policy) for each in rows]
    place = known.index((row.suite, row.policy)) if (row.suite, row.policy) in known else len(rows)
    rows[place : place + 1] = [row]
    rows.sort(key=lambda each: each.suite)
    fresh = FILE.with_suffix(".part")
    try:
        lines = ",\n".join(json.dumps(asdict(each)) for each in rows)
        fresh.write_text(f"[\n{lines}\n]\n", "utf-8")
        os.replace(fresh, FILE)
    except OSError as error:
        raise CannotRecord(f"{FILE}: the row cannot be written: {error.strerror}") from error


def _read(row: Mapping[str, Any]) -> Measured:
    tasks = {
        task: {kind: (int(counts[0]), int(counts[1])) for kind, counts in kinds.items()}
        for task, kinds in row["tasks"].items()
    }
    return Measured(**{**row, "tasks": tasks})
