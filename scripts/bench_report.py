"""What `make bench` tells of its figures: each beside its target, the machine, a reference work, and the runs before.

The reference work is the same on every machine and in every version: it says how quick the machine was in this run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parent.parent
HISTORY = ROOT / "bench-history.jsonl"
"""A line per run. Not committed: each machine has its own."""
SHOWN = ROOT / "docs" / "figures.jsonl"
"""The runs that the README shows, of every machine seen so far."""
SHOWN_MACHINES = 3
VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2"}
BEGIN, END = "<!-- make bench ARGS=--readme -->\n", "<!-- until here -->\n"
"""Around the README's table."""


@dataclass(frozen=True)
class Figure:
    """One line of the table. `target`: the largest acceptable value, None without one."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    target: float | None = None
    note: str = ""

    @property
    def met(self) -> bool:
        return self.target is None or self.value <= self.target


@dataclass(frozen=True)
class Untaken:
    """A figure that no machine of the tests could take, and what it would need."""

    name: str
    target: str
    needs: str


UNTAKEN = (
    Untaken("frames of both viewers on a graphics card", "60 per second", "a browser that draws on a card"),
    Untaken("an inference of the published OpenVLA 7B and Octo", "none", "their weights, which were never loaded"),
    Untaken("episodes in MongoDB's own server", "as the bundled server's", "a machine with that server"),
)


def spread(name: str, values: list[float], unit: str, target: float | None = None, note: str = "") -> Figure:
    """A figure of the median, lowest and highest of the values."""
    return Figure(name, statistics.median(values), min(values), max(values), unit, target, note)


def machine() -> str:
    """Machines of one name may differ in their instructions, on which networks depend most."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    about = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    cpu, flags = about.get("model name", platform.machine()), about.get("flags", "").split()
    vectors = next((name for flag, name in VECTORS.items() if flag in flags), "no AVX2")
    memory_gb = psutil.virtual_memory().total / 1e9
    release = ".".join(platform.release().split(".")[:2])
    system = f"Python {platform.python_version()}, {platform.system()} {release}"
    return f"{cpu} with {vectors}, {os.cpu_count()} cores, {memory_gb:.0f} GB, {system}"


def reference_ms(rounds: int = 5) -> list[float]:
    """Milliseconds of a fixed work on one core: Python's loop, numpy's products, and hashing."""
    return [_timed(_work) for _ in range(rounds)]


def _timed(work: Callable[[], object]) -> float:
    before = time.perf_counter()
    work()
    return 1000.0 * (time.perf_counter() - before)


def _work() -> int:
    total = 0
    for number in range(400_000):
        total += number * number % 7
    matrix = np.linspace(0.0, 1.0, 90_000).reshape(300, 300)
    for _ in range(5):
        matrix = matrix @ matrix.T / 300.0
    return total + len(hashlib.sha256(bytes(16_000_000)).digest()) + int(matrix[0, 0])


def commit() -> str:
    """The commit of the code, with "+" where files have changed since; empty outside a repository."""
    found = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"], cwd=ROOT, capture_output=True, text=True
    )
    return found.stdout.strip()


def row(figure: Figure) -> str:
    """A row of the table that is printed."""
    target = "" if figure.target is None else f"at most {figure.target:g}"
    verdict = "" if figure.target is None else "met" if figure.met else "**missed**"
    span = f"{figure.low:.3g} to {figure.high:.3g}" if figure.high else ""
    return f"| {figure.name} | {figure.value:.3g} {figure.unit} | {span} | {target} | {verdict} | {figure.note} |"


def untaken_rows() -> Iterator[str]:
    for each in UNTAKEN:
        yield f"| {each.name} | not taken | | {each.target} | | needs {each.needs} |"


def told(figures: Iterable[Figure], out: TextIO) -> list[Figure]:
    """Print each figure as soon as it is measured, and those that could not be."""
    found = []
    print("| what | measured | range | target | | |", file=out)
    print("| --- | --- | --- | --- | --- | --- |", file=out)
    for figure in figures:
        found.append(figure)
        print(row(figure), file=out, flush=True)
    for line in untaken_rows():
        print(line, file=out)
    return found


def verdict(figures: Iterable[Figure]) -> tuple[int, str]:
    """The exit status, and a line that names what was missed."""
    missed = [f"{each.name} ({each.value:.3g} {each.unit}, {each.target:g} wanted)" for each in figures if not each.met]
    return (1, f"missed: {', '.join(missed)}") if missed else (0, "every target is met")


def entry(figures: Iterable[Figure], reference: list[float], load: float) -> dict[str, Any]:
    """A run as the history keeps it. `load`: of the machine before the run."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": machine(),
        "load": round(load, 2),
        "reference_ms": [round(each, 1) for each in reference],
        "figures": [{**asdict(each), "met": each.met} for each in figures],
    }


def remember(path: Path, run: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


def history(path: Path) -> list[dict[str, Any]]:
    """The runs of a file, oldest first; none without the file. Raises ValueError for a line that is no run."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    runs = []
    for number, line in enumerate(lines, 1):
        try:
            run = json.loads(line)
            runs.append({**run, "figures": [{**each} for each in run["figures"]], "machine": str(run["machine"])})
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path} line {number}: {error!r}; expected a run as `make bench` writes it") from None
    return runs


def tables(runs: list[dict[str, Any]]) -> Iterator[str]:
    """The README's table: each figure that has a target beside it, on the machines seen last. Of several runs on one
    machine, the median and the range of their values."""
    machines = list(dict.fromkeys(run["machine"] for run in reversed(runs)))[:SHOWN_MACHINES]
    yield f"| what | target | {' | '.join(machines)} |"
    yield "| --- " * (len(machines) + 2) + "|"
    named = {each["name"]: each for run in runs for each in run["figures"]}
    for name, last in named.items():
        if last["target"] is None:
            continue
        target = f"at most {last['target']:.3g} {last['unit']}".strip()
        cells = (_cell([run for run in runs if run["machine"] == where], name) for where in machines)
        yield f"| {name.strip()} | {target} | {' | '.join(cells)} |"
    reference = (
        [each for run in runs if run["machine"] == where for each in run["reference_ms"]] for where in machines
    )
    yield f"| the reference work | | {' | '.join(map(_median_ms, reference))} |"
    for each in UNTAKEN:
        yield f"| {each.name} | {each.target} | {' | '.join(['not taken: needs ' + each.needs] * len(machines))} |"


def _median_ms(values: list[float]) -> str:
    return f"{statistics.median(values):.3g} ms" if values else "not taken"


def _cell(runs: list[dict[str, Any]], name: str) -> str:
    found = [each for run in runs for each in run["figures"] if each["name"] == name]
    if not found:
        return "not taken"
    values = [each["value"] for each in found]
    last, median = found[-1], statistics.median(values)
    text = f"{median:.3g} {last['unit']}".strip()
    if last["target"] is not None and median > last["target"]:
        text = f"**{text}, missed**"
    if len(values) > 1:
        return f"{text} ({min(values):.3g} to {max(values):.3g} in {len(values)} runs)"
    return f"{text} ({last['low']:.3g} to {last['high']:.3g})" if last["high"] else text


def with_tables(text: str, runs: list[dict[str, Any]]) -> str:
    """The README with its table made anew. Raises ValueError where it has no place for one."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise ValueError(f"expected {BEGIN.strip()} and then {END.strip()}, each on a line")
    return "".join([before, begin, *(f"{line}\n" for line in tables(runs)), end, after])
