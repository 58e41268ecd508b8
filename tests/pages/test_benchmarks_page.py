"""The page of published figures beside ours: every row with its source or its interval, with LIBERO here or not."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client

from robots.benchmarks import measured
from robots.benchmarks.measured import Measured
from robots.benchmarks.published import BRIDGE, COLUMNS, LIBERO, published
from simulation import assets

pytestmark = pytest.mark.django_db


Counts = dict[str, dict[str, tuple[int, int]]]


def row(suite: str, tasks: Counts, note: str = "") -> Measured:
    return Measured(suite, "mine", "Policy mine", "abc", note, "mujoco 3.14.0", "2026-11-24", tasks)


@pytest.fixture
def rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "FILE", tmp_path / "measured.json")
    measured.FILE.write_text("[]")


def text(language: str = "en") -> str:
    answer = Client().get("/benchmarks", headers={"accept-language": language})
    assert answer.status_code == 200
    return html.unescape(re.sub(r"<[^>]+>|\s+", " ", answer.content.decode()))


def cells(policy: str) -> list[str]:
    content = Client().get("/benchmarks").content.decode()
    (line,) = [each for each in content.split("<tr")[1:] if f"Policy {policy}" in each]
    plain = [re.sub(r"<[^>]+>", " ", cell) for cell in re.findall(r"<td.*?</td>", line, re.DOTALL)]
    return [" ".join(cell.split()) for cell in plain]


@pytest.mark.usefixtures("rows")
def test_every_published_row_has_its_figures_and_its_source() -> None:
    told = text()
    for benchmark in (BRIDGE, LIBERO):
        for each in published(benchmark):
            assert each.name in told
            assert each.source.name in told
            assert f"{each.mean:.1f}" in told
            assert all(f"{figure:.1f}" in told for figure in each.figures.values())
            assert not each.paper or f"arXiv {each.paper}" in told


@pytest.mark.usefixtures("rows")
def test_ours_of_bridge_are_counted_in_both_ways_with_intervals() -> None:
    half: Counts = {task: {"last": (6, 24), "latched": (12, 24)} for task in COLUMNS[BRIDGE]}
    measured.record(row("bridge", half, note="saw-starts"))
    told = text()
    assert "success at the last step; trained on demonstrations of these tasks from these starts" in told
    assert "25.0 12–45 · 6/24" in " ".join(told.split())
    assert "50.0 40–60 · 48/96" in " ".join(told.split())


@pytest.mark.usefixtures("rows")
def test_of_libero_only_what_was_played_is_told_and_a_mean_needs_all_four_suites() -> None:
    ten: Counts = {f"libero_goal_{number}": {"latched": (4, 5)} for number in range(10)}
    measured.record(row("libero-goal", ten))
    assert cells("mine")[:5] == ["–", "–", "80.0 67–89 · 40/50", "–", "–"]
    for suite in ("spatial", "object", "10"):
        tasks: Counts = {f"libero_{suite}_{number}": {"latched": (5, 5)} for number in range(10)}
        measured.record(row(f"libero-{suite}", tasks))
    assert cells("mine")[4] == "95.0 91–97 · 190/200"


@pytest.mark.usefixtures("rows")
def test_suites_of_different_lengths_have_no_mean() -> None:
    for suite in COLUMNS[LIBERO]:
        tasks = {f"libero_{suite}_{number}": {"latched": (1, 1 if suite == "goal" else 5)} for number in range(10)}
        measured.record(row(f"libero-{suite}", tasks))
    assert cells("mine")[4] == "–"


@pytest.mark.usefixtures("rows")
def test_a_row_takes_the_place_of_an_earlier_one_of_the_same_policy_and_suite() -> None:
    for successes in (1, 5):
        measured.record(row("libero-goal", {"libero_goal_0": {"latched": (successes, 5)}}))
    assert [each.overall("latched")["successes"] for each in measured.measured()] == [5]


@pytest.mark.usefixtures("rows")
def test_without_libero_the_page_says_what_to_type(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(assets.LIBERO, str(tmp_path))
    assert "LIBERO is not installed on this site" in text()
    assert "make libero installs it" in " ".join(text().split())


def test_it_says_that_orders_are_to_be_compared_in_german_too() -> None:
    assert "Compare orders, not numbers." in text()
    assert "Vergleichbar sind Reihenfolgen, nicht Zahlen." in text("de")


@pytest.mark.parametrize("path", ["/leaderboard", "/leaderboard/method"])
def test_the_boards_of_robots_lead_there(path: str) -> None:
    assert 'href="/benchmarks"' in Client().get(path).content.decode()
    assert 'href="/benchmarks"' not in Client().get(f"{path}?kind=text").content.decode()
