"""`manage.py evaluate --suite bridge`: which episodes, by which rule, and beside which published figures."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from robots import bridge_suite
from robots.benchmarks import measured
from robots.bridge_suite import CAVEAT, PUBLISHED, TASKS, cases, measure, on_table
from robots.evaluation import Case, EvaluationError, EvaluationRun
from robots.players import PlayerSource
from robots.processes import Processes
from simulation.contracts import PolicyFailure
from simulation.environment import Environment

ALONE = Processes(1)
STILL = EvaluationRun(PlayerSource("still"))


def test_each_task_has_its_24_starts_in_order_and_the_published_instruction() -> None:
    found = cases(TASKS, episodes=200)
    assert [case.group for case in found] == [task for task in TASKS for _ in range(24)]
    assert [case.seed for case in found] == list(range(24)) * 4
    assert {case.instruction for case in found if case.group == "bridge_carrot"} == {"put carrot on plate"}


@pytest.mark.parametrize(("task", "episodes", "message"), [("pick", 24, "known: bridge_spoon"), (TASKS[0], 0, "1..24")])
def test_what_is_not_in_the_suite_is_refused(task: str, episodes: int, message: str) -> None:
    with pytest.raises(EvaluationError, match=message):
        cases([task], episodes)


@pytest.mark.parametrize(
    ("steps", "last", "latched"),
    [([False, True], 1, 1), ([True, False], 0, 1), ([False, False], 0, 0), ([], 0, 0)],
)
def test_success_is_counted_at_the_last_step_and_at_any(
    monkeypatch: pytest.MonkeyPatch, steps: list[bool], last: int, latched: int
) -> None:
    def play(environment: Any, instruction: str, seed: int, listeners: Any, limits: Any) -> None:
        assert not limits.until_success
        for success in steps:
            listeners[0].on_step(SimpleNamespace(success=success))

    environment = Environment("widowx", "bridge_spoon")
    monkeypatch.setattr(bridge_suite, "opened", lambda run, variant: (environment, SimpleNamespace(play=play)))
    (found,) = measure(STILL, [Case("bridge_spoon", "put the spoon on the towel", 0)], ALONE).values()
    assert (found["last"]["successes"], found["latched"]["successes"]) == (last, latched)


def test_a_policy_that_fails_has_not_reached_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(*_: Any) -> None:
        raise PolicyFailure("broken")

    environment = Environment("widowx", "bridge_spoon")
    monkeypatch.setattr(bridge_suite, "opened", lambda run, variant: (environment, SimpleNamespace(play=play)))
    (found,) = measure(STILL, cases(["bridge_spoon"], 2), ALONE).values()
    assert (found["last"]["successes"], found["last"]["episodes"]) == (0, 2)


def test_an_episode_goes_on_after_success_to_its_last_step(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = []
    kept = bridge_suite._Judge

    def noted(*arguments: Any) -> Any:
        judges.append(kept(*arguments))
        return judges[-1]

    monkeypatch.setattr(bridge_suite, "_Judge", noted)
    expert = replace(STILL, player=PlayerSource("expert"))
    (found,) = measure(expert, cases(["bridge_cubes"], 1), ALONE).values()
    assert (found["last"]["successes"], found["latched"]["successes"]) == (1, 1)
    assert len(judges[0].steps) == 60


def test_a_thing_that_touches_the_table_is_not_wholly_on_the_plate() -> None:
    environment = Environment("widowx", "bridge_carrot")
    environment.reset(0)
    environment.step(environment.controller.still())
    assert on_table(environment, "carrot")
    environment.data.joint("carrot").qpos[2] = 0.3
    environment.step(environment.controller.still())
    assert not on_table(environment, "carrot")


def evaluate(*arguments: str) -> str:
    out = StringIO()
    call_command("evaluate", *arguments, "--suite", "bridge", "--workers", "1", stdout=out, stderr=StringIO())
    return out.getvalue()


@pytest.mark.django_db
def test_the_command_prints_our_rows_beside_the_published_ones() -> None:
    told = evaluate("hold-still", "--episodes", "1", "--task", "bridge_spoon")
    assert "hold-still, at the last step" in told
    assert "hold-still, at any step" in told
    for row in PUBLISHED:
        assert f"{row['mean']:.1f}  {row['source']}" in told
    assert CAVEAT in told


@pytest.mark.django_db
def test_the_command_answers_one_object() -> None:
    answer = json.loads(evaluate("hold-still", "--episodes", "1", "--task", "bridge_spoon", "--json"))
    assert (answer["model_id"], answer["suite"], answer["caveat"]) == ("hold-still", "bridge", CAVEAT)
    assert answer["tasks"]["bridge_spoon"]["last"]["episodes"] == answer["overall"]["latched"]["episodes"] == 1
    assert answer["published"][3]["tasks"]["bridge_eggplant"] == 56.9


@pytest.mark.django_db
def test_its_figures_are_recorded_in_the_table_of_benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "FILE", tmp_path / "measured.json")
    measured.FILE.write_text("[]")
    evaluate("hold-still", "--record", "--episodes", "1")
    (row,) = measured.measured()
    assert (row.suite, row.policy, row.note) == ("bridge", "hold-still", measured.STILL)
    assert row.tasks == {task: {"last": (0, 1), "latched": (0, 1)} for task in TASKS}


@pytest.mark.django_db
@pytest.mark.parametrize("asked", [("--record", "--task", "bridge_spoon"), ("--keep", "kept.jsonl")])
def test_a_part_of_a_suite_is_no_row_of_the_table(asked: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=asked[0]):
        evaluate("hold-still", *asked)
