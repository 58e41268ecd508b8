"""Tasks in YAML: what cannot be played is refused with the file and the line, and limits come from the task."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from simulation import catalogue
from simulation.contracts import Limits
from simulation.environment import Environment
from simulation.expert import HoldStill, ScriptedExpert, act
from simulation.goals import goal_of
from simulation.goals.joints import Open
from simulation.runner import run_episode
from simulation.task_check import check_file
from simulation.verification import verify_document
from tests.simulation.conftest import Record

LINES = """\
- id: poke
  name: Poke
  description: Poke it.
  environment: {robot: widowx, scene: table}
  instruction_templates:
    - {text: "prod the {object}"}
  values:
    object: [red_cube, green_sphere]
  goal:
    all:
      - touching: {thing: "{object}", other: tool}
      - moved: {thing: "{object}", direction: left, by_m: 0.05}
  max_steps: 40
  timeout_s: 30
"""
MOVED = '{thing: "{object}", direction: left, by_m: 0.05}'


def checked(folder: Path, text: str, seeds: int = 1) -> list[str]:
    path = folder / "mine.yaml"
    path.write_text(text)
    return list(check_file(path, seeds).faults)


def test_a_file_of_tasks_that_can_be_played_has_no_faults(tmp_path: Path) -> None:
    assert checked(tmp_path, LINES) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("moved:", "shifted:", "mine.yaml:12: unknown predicate 'shifted'; known: all, any, stages, not, lifted"),
        ("other: tool", "other: teapot", "mine.yaml:11: touching.other: unknown thing 'teapot'; known: blue_cylinder"),
        ("by_m: 0.05", "by_cm: 5", "mine.yaml:12: moved: unknown unit 'cm' of 'by'; say by_m"),
        ("by_m: 0.05", "by: 5", "mine.yaml:12: moved: unknown unit 'none' of 'by'; say by_m"),
        ("by_m: 0.05", "far: 5", "mine.yaml:12: moved: unknown field 'far'; known: thing, direction, by_m"),
        ("by_m: 0.05", "by_m: far", "mine.yaml:12: moved.by_m: expected a number, got str 'far'"),
        ("by_m: 0.05", "by_m: .nan", "mine.yaml:12: moved.by_m: expected a number"),
        ("by_m: 0.05", "by_m: 5", "mine.yaml:12: moved.by_m: expected a number over 0, at most 2"),
        ("direction: left", "direction: up", "mine.yaml:12: moved.direction: expected one of left, right, forward"),
        (MOVED, "{direction: left}", "mine.yaml:12: moved: thing is missing"),
        (MOVED, "[a, b]", "mine.yaml:12: moved: expected its fields (thing, direction, by_m), got list"),
        ("moved: " + MOVED, "moved: x\n        on: y", "mine.yaml:10: all: expected one predicate with its fields"),
        ("moved: " + MOVED, "all: []", "mine.yaml:12: all: expected a list of goals, got list"),
        ("moved: " + MOVED, "open: {joint: drawer}", "mine.yaml:12: open.joint: unknown joint 'drawer'; known: "),
        ("moved: " + MOVED, 'inside: {thing: "{object}", region: sink}', "mine.yaml:12: inside.region: unknown region"),
        ("moved: " + MOVED, "at_rest: 5", "mine.yaml:12: at_rest: expected its fields (thing), got int 5"),
        ('thing: "{object}", other', 'thing: "{target}", other', "mine.yaml:11: touching.thing: unknown slot 'target'"),
        ('thing: "{object}", other', 'thing: "{object", other', "mine.yaml:11: touching.thing: '{object': expected"),
        ("max_steps: 40", "max_steps: many", "mine.yaml:13: max_steps: expected a whole number, 1..1000000, got str"),
        (
            "timeout_s: 30\n",
            "timeout_s: 30\n  hold_steps: 41\n",
            "mine.yaml:15: hold_steps: 41 are more than max_steps",
        ),
        ("green_sphere]", "teapot]", "mine.yaml:7: values: unknown thing in scene table 'teapot'; known: blue_"),
        ("scene: table", "scene: moon", "mine.yaml:1: unknown scene 'moon'; known: "),
        ("prod the {object}", "prod the {thing}", "mine.yaml:5: instruction_templates: 'prod the {thing}' names other"),
        ("prod the {object}", "pick up the {object}", "mine.yaml:5: 'pick up the red cube' does not mean poke"),
        ("  goal:\n    all:", "  aim:\n    all:", "mine.yaml:1: goal is missing; there is id, name"),
        ("id: poke", "id: [poke", "mine.yaml: not YAML"),
    ],
)
def test_what_cannot_be_played_is_refused_by_file_and_line(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in LINES
    faults = checked(tmp_path, LINES.replace(old, new))
    assert [each for each in faults if each.startswith(fault)], faults


def test_a_goal_that_is_reached_before_anything_was_done_is_refused_with_its_seed(tmp_path: Path) -> None:
    loose = LINES.replace("all:", "any:").replace("touching: {thing", "next_to: {thing")
    found = checked(tmp_path, loose.replace("other: tool}", "other: blue_cylinder, within_m: 0.1}"), seeds=30)
    assert len(found) == 1
    assert "mine.yaml:9: goal: poke {'object': " in found[0]
    assert "is reached at the start of seed " in found[0]


def test_on_and_off_are_words_in_files_of_tasks(tmp_path: Path) -> None:
    text = LINES.replace(f"moved: {MOVED}", 'on: {thing: "{object}", support: left_plate}')
    assert checked(tmp_path, text) == []


def test_the_command_tells_every_fault_and_fails(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(LINES.replace("moved:", "shifted:"))
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_tasks", path, "--seeds", "1", "--json", stdout=out)
    (told,) = json.loads(out.getvalue())["files"]
    assert (told["name"], told["tasks"], told["goals"]) == ("mine.yaml", 1, 2)
    assert told["faults"][0].startswith("mine.yaml:12: unknown predicate 'shifted'")


def test_the_catalogues_own_tasks_have_no_faults() -> None:
    out = StringIO()
    call_command("check_tasks", "--seeds", "3", "--json", stdout=out)
    assert {each["name"]: each["faults"] for each in json.loads(out.getvalue())["files"] if each["faults"]} == {}


def test_every_filled_task_of_the_catalogue_has_a_goal() -> None:
    for task in catalogue.tasks():
        for slots in task.slots:
            assert goal_of(task.id, slots) == goal_of(task.id, slots)


def test_a_turn_has_the_limits_of_its_task_and_free_text_the_usual_ones() -> None:
    assert catalogue.limits_for("pick up the red cube") == Limits(max_steps=50, wall_s=60.0)
    assert catalogue.limits_for("swap the red cube and the blue can") == Limits(max_steps=150, wall_s=180.0)
    assert catalogue.limits_for("do a little dance") == Limits()


def test_a_rollout_obeys_the_steps_of_its_task(environment: Environment) -> None:
    long = run_episode(environment, HoldStill(environment), "swap the red cube and the blue can", 0)
    assert (long.steps, long.termination_reason) == (150, "step_limit")
    environment.reset(0)
    assert run_episode(environment, HoldStill(environment), "dance", 0).steps == 50


def test_success_has_to_last_as_long_as_the_task_says(environment: Environment, monkeypatch: Any) -> None:
    text = "pick up the red cube"
    usual = run_episode(environment, ScriptedExpert(environment), text, 0)
    monkeypatch.setattr(Environment, "hold_steps", 1)
    environment.reset(0)
    assert run_episode(environment, ScriptedExpert(environment), text, 0).steps == usual.steps - 4


def test_the_expert_holds_still_for_goals_that_it_does_not_know(environment: Environment) -> None:
    still = act(environment, Open("red_cube"))
    assert still[:6] == pytest.approx(np.zeros(6), abs=1e-3)


def test_an_episode_is_verified_by_what_it_was_understood_as(environment: Environment, record: Record) -> None:
    document = record("push the red cube to the left", HoldStill(environment))
    assert (document["task_id"], document["slots"]) == ("push", {"object": "red_cube", "direction": "left"})
    assert verify_document(document) is None
    assert verify_document(record("dance", HoldStill(environment))) is None


def test_older_episodes_of_sentences_that_had_no_goal_verify_as_they_were(
    environment: Environment, record: Record
) -> None:
    document = record("push the red cube to the left", HoldStill(environment))
    old = {name: value for name, value in document.items() if name not in ("task_id", "slots")}
    assert verify_document({**old, "success": None, "progress": None, "total_reward": 0.0}) is None
    assert verify_document({**old, "success": False, "progress": 0.0, "total_reward": 0.0}) is None


def test_an_episode_of_a_task_that_is_gone_differs_and_says_so(environment: Environment, record: Record) -> None:
    document = {**record("touch the red cube", HoldStill(environment)), "task_id": "juggle"}
    found = verify_document(document)
    assert found is not None
    assert "unknown task 'juggle'" in found.reason
