"""Published figures, from published.yaml. Needs neither Django nor physics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

BRIDGE, LIBERO = "bridge", "libero"
COLUMNS: Mapping[str, tuple[str, ...]] = {
    BRIDGE: ("bridge_spoon", "bridge_carrot", "bridge_cubes", "bridge_eggplant"),
    LIBERO: ("spatial", "object", "goal", "10"),
}
"""Benchmark -> its tasks or suites, in the order of the figures."""
FILE = Path(__file__).parent / "published.yaml"


@dataclass(frozen=True)
class Source:
    """Where figures are printed. `paper`: its arXiv number."""

    name: str
    url: str = ""
    paper: str = ""


@dataclass(frozen=True)
class Published:
    """A policy's percentages: by column, where they are known, and their mean. `reproduced`: the mean others got."""

    name: str
    figures: Mapping[str, float]
    mean: float
    source: Source
    training: str
    paper: str = ""
    reproduced: float | None = None


@cache
def published(benchmark: str) -> tuple[Published, ...]:
    """Of BRIDGE or LIBERO, the lowest mean first as in the file."""
    content = yaml.safe_load(FILE.read_text("utf-8"))
    sources = {key: Source(**row) for key, row in content["sources"].items()}
    return tuple(_read(row, COLUMNS[benchmark], sources) for row in content[benchmark])


def _read(row: Mapping[str, Any], columns: tuple[str, ...], sources: Mapping[str, Source]) -> Published:
    told = zip(columns, row["figures"], strict=True)
    figures = {column: float(figure) for column, figure in told if figure is not None}
    return Published(**{**row, "figures": figures, "source": sources[row["source"]]})
