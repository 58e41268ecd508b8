"""`make bench` shows each figure beside its target, fails on a miss, and keeps what it measured."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from scripts import bench_report
from scripts.bench_report import (
    SHOWN,
    UNTAKEN,
    Figure,
    entry,
    history,
    remember,
    row,
    spread,
    tables,
    verdict,
    with_tables,
)

GOOD = spread("a call", [3.0, 4.0, 9.0], "ms", 5.0)
BAD = Figure("a turn", 2.5, 2.0, 3.0, "s", 2.0)
FREE = Figure("a picture", 7.0, 0.0, 0.0, "ms")


def kept(folder: Path, *figures: Figure, machine: str = "one", reference: float = 100.0) -> dict[str, Any]:
    run = {**entry(figures, [reference, reference], 0.5), "machine": machine}
    remember(folder / "history.jsonl", run)
    return run


def test_a_row_has_the_figure_its_range_its_target_and_whether_it_is_met() -> None:
    assert row(GOOD) == "| a call | 4 ms | 3 to 9 | at most 5 | met |  |"
    assert row(BAD) == "| a turn | 2.5 s | 2 to 3 | at most 2 | **missed** |  |"
    assert row(FREE) == "| a picture | 7 ms |  |  |  |  |"


def test_a_miss_is_named_and_fails() -> None:
    assert verdict([GOOD, FREE]) == (0, "every target is met")
    assert verdict([GOOD, BAD]) == (1, "missed: a turn (2.5 s, 2 wanted)")


def test_what_no_machine_could_take_is_said() -> None:
    lines = list(bench_report.untaken_rows())
    assert len(lines) == len(UNTAKEN) > 0
    assert all("not taken" in line and "needs " in line for line in lines)


def test_the_reference_work_takes_time_and_is_the_same_work() -> None:
    assert bench_report._work() == bench_report._work()
    assert all(each > 1.0 for each in bench_report.reference_ms(2))


def test_runs_are_kept_in_order_with_machine_reference_and_commit(tmp_path: Path) -> None:
    first, second = kept(tmp_path, GOOD), kept(tmp_path, BAD)
    found = history(tmp_path / "history.jsonl")
    assert found == [json.loads(json.dumps(each)) for each in (first, second)]
    assert found[1]["figures"][0] == {**BAD.__dict__, "met": False}
    assert {"at", "commit", "machine", "load", "reference_ms"} < found[0].keys()


def test_no_file_is_no_run_and_a_broken_line_is_named(tmp_path: Path) -> None:
    assert history(tmp_path / "nothing") == []
    (tmp_path / "history.jsonl").write_text('{"figures": []}\n')
    with pytest.raises(ValueError, match=r"line 1: KeyError\('machine'\); expected a run as `make bench` writes it"):
        history(tmp_path / "history.jsonl")


def test_the_readmes_table_has_a_column_per_machine_and_the_spread_of_its_runs(tmp_path: Path) -> None:
    kept(tmp_path, GOOD, FREE)
    kept(tmp_path, replace(GOOD, value=6.0))
    kept(tmp_path, BAD, machine="two", reference=50.0)
    lines = list(tables(history(tmp_path / "history.jsonl")))
    assert lines[0] == "| what | target | two | one |"
    assert lines[2:5] == [
        "| a call | at most 5 ms | not taken | 5 ms (4 to 6 in 2 runs) |",
        "| a turn | at most 2 s | **2.5 s, missed** (2 to 3) | not taken |",
        "| the reference work | | 50 ms | 100 ms |",
    ]
    assert len(lines) == 5 + len(UNTAKEN)


def test_the_readme_shows_the_runs_that_are_kept_beside_it() -> None:
    text = (SHOWN.parent.parent / "README.md").read_text()
    assert history(SHOWN)
    assert with_tables(text, history(SHOWN)) == text


def test_a_readme_without_a_place_for_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="expected <!-- make bench"):
        with_tables("# A readme", [])


def test_figures_are_told_as_they_come_with_the_untaken_ones_at_the_end() -> None:
    out = io.StringIO()
    found = bench_report.told([GOOD, BAD], out)
    lines = out.getvalue().splitlines()
    assert found == [GOOD, BAD]
    assert lines[2:] == [row(GOOD), row(BAD), *bench_report.untaken_rows()]
