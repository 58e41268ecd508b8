"""What a study has played, in a folder of its own: a line of JSON for each pair, so that it can be taken up again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robots.studies.playing import Pair

PLAN, PAIRS, REPORT = "study.json", "pairs.jsonl", "report.html"


@dataclass(frozen=True)
class StudyFolder:
    """`plan`: whatever decides what is played; other plans have other folders, so that nothing is mixed."""

    path: Path
    plan: Mapping[str, Any]

    @classmethod
    def of(cls, parent: Path, plan: Mapping[str, Any]) -> StudyFolder:
        """The plan's folder, which is made if it is not there."""
        text = json.dumps(plan, indent=1, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        path = parent / f"{plan['a']['model_id']}-{plan['b']['model_id']}-{digest}"
        path.mkdir(parents=True, exist_ok=True)
        (path / PLAN).write_text(text, "utf-8")
        return cls(path, plan)

    @property
    def report(self) -> Path:
        return self.path / REPORT

    def pairs(self) -> list[Pair]:
        """In the order in which they were played. A line that was cut off is none."""
        return list(self._read())

    def add(self, pair: Pair) -> None:
        with self._pairs.open("a", encoding="utf-8") as file:
            file.write(json.dumps(pair.to_json()) + "\n")

    def keep(self, pairs: list[Pair]) -> None:
        """These alone."""
        lines = "".join(json.dumps(pair.to_json()) + "\n" for pair in pairs)
        new = self._pairs.with_suffix(".new")
        new.write_text(lines, "utf-8")
        new.replace(self._pairs)

    @property
    def _pairs(self) -> Path:
        return self.path / PAIRS

    def _read(self) -> Iterator[Pair]:
        if not self._pairs.exists():
            return
        for line in self._pairs.read_text("utf-8").splitlines():
            try:
                yield Pair.from_json(json.loads(line))
            except (ValueError, TypeError, KeyError):
                continue
