"""The benchmarks' tables as pages show them: rows of ours and published ones, the best mean first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy

from proportions import Success
from robots.benchmarks.measured import (
    ANY_STEP,
    LAST_STEP,
    NEAR_STARTS,
    READS_STATE,
    SAW_STARTS,
    STILL,
    Measured,
    pooled,
)
from robots.benchmarks.published import BRIDGE, COLUMNS, LIBERO, Published, Source, published

PREFIX = "libero-"
TITLES: Mapping[str, Any] = {
    "bridge_spoon": gettext_lazy("Spoon"),
    "bridge_carrot": gettext_lazy("Carrot"),
    "bridge_cubes": gettext_lazy("Block"),
    "bridge_eggplant": gettext_lazy("Eggplant"),
    "spatial": "Spatial",
    "object": "Object",
    "goal": "Goal",
    "10": "10",
}
TRAINING: Mapping[str, Any] = {
    "zero-shot": gettext_lazy("trained on real robots"),
    "bridge": gettext_lazy("fine-tuned on BridgeData or together with it"),
    "scratch": gettext_lazy("trained from scratch on each suite"),
    "suite": gettext_lazy("fine-tuned on each suite"),
    "shared": gettext_lazy("one policy for all four suites"),
    "untold": gettext_lazy("the source does not say how it was trained"),
}
NOTES: Mapping[str, Any] = {
    "": gettext_lazy("never saw these tasks in training"),
    READS_STATE: gettext_lazy("reads the simulator's state, so it is no policy: it shows that the tasks can be done"),
    SAW_STARTS: gettext_lazy("trained on demonstrations of these tasks from these starts: shows that it learnt them"),
    NEAR_STARTS: gettext_lazy(
        "trained on our expert's demonstrations of most of these tasks, from starts between these ones"
    ),
    STILL: gettext_lazy("does nothing"),
}
COUNTED: Mapping[str, Any] = {
    ANY_STEP: gettext_lazy("success at any step"),
    LAST_STEP: gettext_lazy("success at the last step"),
}


@dataclass(frozen=True)
class Cell:
    """A percentage; of ours the ends of its 95 % interval, and the successes of the episodes."""

    percent: float
    low: float | None = None
    high: float | None = None
    successes: int | None = None
    episodes: int | None = None

    @classmethod
    def of(cls, rate: Success) -> Cell:
        percent, low, high = (100 * rate[name] for name in ("rate", "low", "high"))
        return cls(percent, low, high, rate["successes"], rate["episodes"])


@dataclass(frozen=True)
class Row:
    """`policy`: its id where it is ours. `notes`: short sentences, lazily translated. `cells`: None where not known."""

    name: str
    cells: Sequence[Cell | None]
    mean: Cell | None
    notes: Sequence[Any]
    policy: str = ""
    paper: str = ""
    source: Source | None = None
    reproduced: float | None = None


def titles(benchmark: str) -> list[Any]:
    return [TITLES[column] for column in COLUMNS[benchmark]]


def rows(benchmark: str, measured: Iterable[Measured]) -> list[Row]:
    """Ours and the published ones; those without a mean come last."""
    ours = _bridge(measured) if benchmark == BRIDGE else _libero(measured)
    found = [*ours, *(_published(row, COLUMNS[benchmark]) for row in published(benchmark))]
    return sorted(found, key=lambda row: -row.mean.percent if row.mean else 1.0)


def _published(row: Published, columns: Sequence[str]) -> Row:
    cells = [Cell(row.figures[column]) if column in row.figures else None for column in columns]
    mean, notes = Cell(row.mean), [TRAINING[row.training]]
    return Row(row.name, cells, mean, notes, paper=row.paper, source=row.source, reproduced=row.reproduced)


def _bridge(measured: Iterable[Measured]) -> Iterator[Row]:
    """Two rows for each policy, since sources count in two ways."""
    for row in measured:
        if row.suite == BRIDGE:
            for counted in (LAST_STEP, ANY_STEP):
                cells = [Cell.of(row.rate(task, counted)) for task in COLUMNS[BRIDGE]]
                notes = [COUNTED[counted], NOTES[row.note]]
                yield Row(row.name, cells, Cell.of(row.overall(counted)), notes, row.policy)


def _libero(measured: Iterable[Measured]) -> Iterator[Row]:
    """A row for each policy, of the suites that were measured."""
    found: dict[str, dict[str, Measured]] = {}
    for row in measured:
        if row.suite.startswith(PREFIX):
            found.setdefault(row.policy, {})[row.suite.removeprefix(PREFIX)] = row
    for policy, suites in found.items():
        known = [suites.get(column) for column in COLUMNS[LIBERO]]
        cells = [Cell.of(each.overall(ANY_STEP)) if each else None for each in known]
        last = next(reversed(suites.values()))
        yield Row(last.name, cells, _mean_over(known), [NOTES[last.note]], policy)


def _mean_over(suites: Sequence[Measured | None]) -> Cell | None:
    """Of four suites with as many episodes each, so that the mean of the rates is that of the episodes; else None."""
    counts = [(rate["successes"], rate["episodes"]) for suite in suites if suite for rate in [suite.overall(ANY_STEP)]]
    same = len(counts) == len(suites) and len({episodes for _, episodes in counts}) == 1
    return Cell.of(pooled(counts)) if same else None


def markdown(benchmark: str, measured: Iterable[Measured]) -> list[str]:
    """The lines of the table, in English if no other language is active."""
    heads = ["%", *titles(benchmark), "mean", "source"]
    return [_line(heads), _line(["---"] * len(heads)), *(_line(_told(row)) for row in rows(benchmark, measured))]


def _told(row: Row) -> list[Any]:
    notes = "; ".join(str(note) for note in row.notes)
    where = row.source.name if row.source else "measured here"
    figures = ["–" if cell is None else f"{cell.percent:.1f}" for cell in (*row.cells, row.mean)]
    if row.reproduced:
        figures[-1] += f" (others got {row.reproduced})"
    return [row.name, *figures, f"{where}; {notes}"]


def _line(cells: Iterable[Any]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"
