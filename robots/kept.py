"""What an evaluation has played, in a file of JSON lines, so that it can be stopped and gone on with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from robots.evaluation import Case, EvaluationError


@dataclass(frozen=True)
class Kept:
    """`played`: name of a case -> whether it succeeded."""

    path: Path
    played: dict[str, bool]

    @classmethod
    def at(cls, path: Path, plan: Mapping[str, Any]) -> Self:
        """The file, begun with the plan: whatever decides how an episode goes. Raises EvaluationError for a file of
        another plan, which says what differs."""
        if not path.exists():
            path.write_text(json.dumps(plan), "utf-8")
        first, *rest = path.read_text("utf-8").split("\n")
        _check(path, _object(first), plan)
        return cls(path, dict(_outcomes(rest)))

    def add(self, case: Case, success: bool) -> None:
        self.played[case.name] = success
        with self.path.open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({"case": case.name, "success": success}))


def _check(path: Path, found: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    differing = [f"{name} {found.get(name)!r}, now {plan[name]!r}" for name in plan if found.get(name) != plan[name]]
    if differing:
        raise EvaluationError(f"{path} is of another evaluation: {'; '.join(differing)}")


def _outcomes(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """A line that was cut off is none."""
    for row in map(_object, lines):
        if isinstance(row.get("case"), str) and isinstance(row.get("success"), bool):
            yield row["case"], row["success"]


def _object(line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
