"""Measuring success: the interval, which episodes are played, and the command's answer."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from policies.folder import CARD
from policies.registry import describe
from proportions import wilson
from robots import bench_evaluate, evaluation
from robots.evaluation import Case, EvaluationError, EvaluationRun, cases, measure
from robots.players import PlayerSource
from robots.processes import Processes
from robots.seeds import HELD_OUT_SEEDS
from simulation import catalogue
from simulation.catalogue_rows import CatalogueError
from simulation.environment import Environment
from simulation.suites import SHIFTS

ALONE = Processes(1)


@pytest.mark.parametrize(
    ("successes", "episodes", "low", "high"),
    [  # R: prop.test(x, n, correct = FALSE)$conf.int
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (190, 200, 0.9104, 0.9726),
        (1, 1, 0.2065, 1.0),
    ],
)
def test_wilson_intervals_of_known_answer(successes: int, episodes: int, low: float, high: float) -> None:
    assert wilson(successes, episodes) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


@pytest.mark.parametrize(("successes", "episodes"), [(1, 0), (0, 0), (-1, 5), (6, 5)])
def test_impossible_counts_are_refused(successes: int, episodes: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, episodes)


def test_the_table_suite_uses_trained_wordings_only_and_every_task_equally() -> None:
    found = cases("table", ["pick", "stack"], 30, seed=100)
    trained = {one.text for one in catalogue.instructions(train=True)}
    assert [case.group for case in found] == ["pick"] * 30 + ["stack"] * 30
    assert {case.instruction for case in found} <= trained
    assert {case.seed for case in found} == set(range(100, 130))


def test_the_shift_suite_covers_every_shift_and_keeps_its_kept_out_wordings_apart() -> None:
    found = cases("shifts", ["pick"], 5, seed=0)
    assert {case.group for case in found} == {f"{shift}/pick" for shift in SHIFTS}
    kept_out = {one.text for one in catalogue.instructions(train=False)}
    assert all(case.instruction in kept_out for case in found if case.group == "kept-out-phrasings/pick")
    assert not any(case.instruction in kept_out for case in found if case.group != "kept-out-phrasings/pick")


def test_a_scene_is_measured_with_the_shifts_that_change_something_there() -> None:
    unseen = {"other-colours", "fifth-object"}
    found = cases("shifts", ["warehouse_pick"], 2, seed=0)
    assert {case.group.partition("/")[0] for case in found} == SHIFTS.keys() - unseen
    found = cases("shifts", ["workbench_pick"], 2, seed=0)
    assert {case.group.partition("/")[0] for case in found} == SHIFTS.keys() - {"fifth-object"}
    for shift in unseen:
        with pytest.raises(
            CatalogueError, match=f"'{shift}' changes nothing in the scene 'warehouse'; these do: camera"
        ):
            cases("shifts", ["warehouse_pick"], 2, 0, ["shadows", shift])


def test_an_episode_is_the_same_whatever_else_is_measured() -> None:
    many, one = cases("table", ["pick", "place"], 20, seed=0), cases("table", ["place"], 3, seed=5)
    assert [case for case in many if case.group == "place" and 5 <= case.seed < 8] == one


def test_nothing_is_asked_of_things_that_a_seed_left_out() -> None:
    bench = Environment("widowx", "workbench")
    found = cases("table", ["workbench_put_in", "workbench_pick"], 12, seed=0)
    assert [case.group for case in found] == ["workbench_put_in"] * 12 + ["workbench_pick"] * 12
    for case in found:
        meaning = catalogue.task_for(case.instruction, "workbench")
        bench.reset(case.seed)
        assert meaning is not None
        assert {*meaning[1].values()}.isdisjoint(bench.left_out())


@pytest.mark.parametrize("seed", [-1, HELD_OUT_SEEDS - 2])
def test_seeds_of_the_training_data_are_refused(seed: int) -> None:
    with pytest.raises(EvaluationError, match="seeds"):
        cases("table", ["pick"], 5, seed)


def test_unknown_suites_and_shifts_list_the_known_ones() -> None:
    with pytest.raises(EvaluationError, match="known: table, shifts"):
        cases("moon", ["pick"], 1, 0)
    with pytest.raises(CatalogueError, match=r"known: .*dim-light"):
        cases("shifts", ["pick"], 1, 0, ["fog"])


def test_the_expert_reaches_its_goal_and_the_still_one_does_not() -> None:
    case = [Case("pick", "pick up the red cube", seed=3)]
    assert measure(EvaluationRun(PlayerSource("expert", "")), case, ALONE)["pick"]["successes"] == 1
    assert measure(EvaluationRun(PlayerSource("still", "")), case, ALONE)["pick"]["successes"] == 0


def test_processes_find_what_one_process_finds() -> None:
    todo = cases("table", ["pick"], 3, seed=40)
    expert = EvaluationRun(PlayerSource("expert", ""))
    with Processes(2) as two:
        assert measure(expert, todo, two) == measure(expert, todo, ALONE)


def evaluate(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("evaluate", *arguments, "--workers", "1", "--json", stdout=out, stderr=StringIO())
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


@pytest.mark.django_db
def test_the_command_answers_one_object_per_task_and_overall() -> None:
    answer = evaluate("hold-still", "--episodes", "1", "--seed", "7")
    assert answer["model_id"] == "hold-still"
    here = {task.id for task in catalogue.suggested_tasks() if task.scene_id == "table"}
    assert set(answer["tasks"]) == here
    assert answer["tasks"]["pick"] == {"episodes": 1, "successes": 0, "rate": 0.0, "low": 0.0, "high": 0.7935}
    assert answer["overall"]["episodes"] == len(here)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nobody"], r"unknown policy 'nobody'; known: .*scripted-expert"),
        (["hold-still", "--task", "juggle"], r"unknown task 'juggle'; known: .*pick"),
        (
            ["hold-still", "--task", "open_drawer"],
            "open_drawer is a task of another scene than table; pass .*--scene cabinet",
        ),
        (["hold-still", "--suite", "moon"], "unknown suite"),
        (["hold-still", "--seed", "1000000"], "expected seeds"),
    ],
)
def test_the_command_refuses_what_it_does_not_know(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        evaluate(*arguments, "--episodes", "1")


@pytest.mark.django_db
def test_an_evaluation_goes_on_with_the_episodes_that_its_file_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Case] = []
    play = evaluation._play
    monkeypatch.setattr(evaluation, "_play", lambda run, case: (played.append(case), play(run, case))[1])
    kept = tmp_path / "kept.jsonl"
    arguments = ("scripted-expert", "--task", "pick", "--seed", "7", "--keep", str(kept))
    evaluate(*arguments, "--episodes", "1")
    kept.write_text(
        kept.read_text("utf-8") + '\n{"case": "pick/8", "succ', "utf-8"
    )  # as a process leaves it that is killed
    answer = evaluate(*arguments, "--episodes", "3")
    assert [case.seed for case in played] == [7, 8, 9]
    assert answer["tasks"]["pick"]["episodes"] == 3
    assert evaluate(*arguments, "--episodes", "3") == answer
    assert len(played) == 3


@pytest.mark.django_db
def test_a_file_of_another_evaluation_is_refused_with_what_differs(tmp_path: Path) -> None:
    kept = str(tmp_path / "kept.jsonl")
    evaluate("hold-still", "--task", "pick", "--episodes", "1", "--keep", kept)
    with pytest.raises(CommandError, match="of another evaluation: policy 'hold-still', now 'scripted-expert'"):
        evaluate("scripted-expert", "--task", "pick", "--episodes", "1", "--keep", kept)
    with pytest.raises(CommandError, match="--keep keeps the figures of the suites table and shifts only"):
        evaluate("hold-still", "--suite", "bridge", "--episodes", "1", "--keep", kept)


def test_what_a_second_process_brings_is_told_beside_what_the_cores_give(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {(1, 1): (40.0, 40.0), (2, 1): (24.0, 44.0), (1, 2): (46.0, 80.0)}
    monkeypatch.setattr(
        bench_evaluate, "_taken", lambda policy, episodes, workers, at_once=1: seconds[workers, at_once]
    )
    (one,) = bench_evaluate.rounds("film-base", 200, 1)
    assert (one.share, one.least, one.processor) == pytest.approx((0.6, 0.575, 1.1))


@pytest.mark.django_db
def test_recorded_figures_are_in_the_card_and_the_folder_still_opens(picture_folder: Path) -> None:
    arguments = (str(picture_folder), "--episodes", "1", "--record")
    evaluate(*arguments, "--task", "pick")
    evaluate(*arguments, "--task", "place")
    measured = describe(picture_folder).measured["table"]
    assert set(measured["tasks"]) == {"pick", "place"}
    assert json.loads((picture_folder / CARD).read_text("utf-8"))["measured"]["table"]["first_seed"] == 0
