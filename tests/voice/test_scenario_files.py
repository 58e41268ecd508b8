"""Scenarios come from YAML, and every fault is told with file, line, and what would have been right."""

from __future__ import annotations

import io
import json
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import call_command

from simulation.catalogue_rows import CatalogueError
from tests.voice.calls import SCENARIOS
from voice.scenarios.checking import faults_of
from voice.scenarios.model import CATEGORIES, Scenario
from voice.scenarios.reading import read_scenarios

SHORT = """\
- id: order
  name: An order
  category: support
  difficulty: easy
  description: Ask for it.
  you_know: {Order number: A7429}
  greeting: Hello.
  system_prompt: Help.
  tools:
    - id: status
      description: Tells it.
      parameters:
        order: {slot: code, description: your order number, pattern: '[A-Z]\\d{4}'}
      results:
        - {when: {order: A7429}, done: true, message: On Saturday.}
        - {done: false, message: 'I find no {order}.', asks: [order]}
  required_slots: {order: A7429}
  success_criteria:
    - {id: found, calls: status}
  caller:
    opening: Where is my order?
    answers:
      - {heard: [number], say: 'A, 7, 4, 2, 9.'}
    closing: Goodbye.
"""


def read(text: str) -> Scenario:
    return read_scenarios(text, "mine.yaml")[0]


def test_there_are_the_ten_scenarios() -> None:
    found = Counter((each.category, each.difficulty) for each in SCENARIOS.values())
    assert found == {
        ("booking", "easy"): 1, ("booking", "medium"): 2, ("booking", "hard"): 1,
        ("support", "easy"): 1, ("support", "medium"): 1, ("support", "hard"): 1,
        ("info_retrieval", "easy"): 1, ("info_retrieval", "medium"): 1, ("info_retrieval", "hard"): 1,
    }  # fmt: skip
    assert {each.category for each in SCENARIOS.values()} == set(CATEGORIES)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=list(SCENARIOS))
def test_each_can_be_done_and_has_the_limits_of_the_requirements(scenario: Scenario) -> None:
    assert faults_of(scenario) == []
    assert (scenario.max_turns, scenario.max_duration_s) == (10, 120)
    assert scenario.difficulty == "easy" or scenario.twists or scenario.id == "troubleshooting"


def test_results_depend_on_the_arguments() -> None:
    tool = read(SHORT).tools["status"]
    assert tool.answer({"order": "a 7 4 2 9"}).done
    assert not tool.answer({"order": "B1111"}).done
    assert not tool.answer({}).done
    assert tool.told(tool.answer({"order": "B1111"}), {"order": "B1111"}) == "I find no B 1 1 1 1."


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("category: support", "category: sales", "mine.yaml:3: category: expected one of booking, support, info_"),
        ("difficulty: easy", "difficulty: 3", "mine.yaml:4: difficulty: expected a text, got int 3"),
        ("id: order\n", "id: My Order\n", "mine.yaml:1: id: expected small letters, digits and _, at most 50"),
        ("greeting: Hello.", "greetings: Hello.", "mine.yaml:7: unknown field 'greetings'; known are caller, category"),
        ("  greeting: Hello.\n", "", "mine.yaml:1: greeting is missing"),
        ("slot: code", "slot: colour", "mine.yaml:13: slot: expected one of weekday, date, time, "),
        ("[A-Z]\\d", "[A-Z\\d", "mine.yaml:13: pattern: expected a regular expression such as"),
        ("when: {order: A7429}", "when: {order: seven}", "mine.yaml:15: order: expected a code like"),
        ("when: {order: A7429}", "when: {number: A7429}", "mine.yaml:15: unknown parameter 'number'; known are order"),
        ("when: {order: A7429}, done", "done", "mine.yaml:14: results: only the last one has no `when`"),
        ("- {done: false,", "- {when: {order: B1111}, done: false,", "mine.yaml:14: results: the last one has no"),
        ("no {order}", "no {day}", "mine.yaml:16: unknown parameter 'day'; known are order"),
        ("no {order}", "no {order", "mine.yaml:16: message: expected parameters in braces, such as {day}"),
        ("done: true", "done: soon", "mine.yaml:15: done: expected true or false, got str 'soon'"),
        ("{order: A7429}\n  success", "{order: 7429}\n  success", "mine.yaml:17: order: expected a text in quotes"),
        ("{order: A7429}\n  success", "{day: A7429}\n  success", "mine.yaml:17: unknown slot 'day'; known are order"),
        ("calls: status", "calls: look", "mine.yaml:19: unknown tool 'look'; known are status"),
        ("calls: status", "calls: status, says: [yes]", "mine.yaml:19: a criterion has either `calls`"),
        ("heard: [number], ", "", "mine.yaml:23: heard is missing"),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line(right: str, wrong: str, told: str) -> None:
    assert read(SHORT)
    assert right in SHORT
    with pytest.raises(CatalogueError) as refused:
        read(SHORT.replace(right, wrong, 1))
    assert str(refused.value).startswith(told)


def test_two_scenarios_of_one_id_are_refused() -> None:
    with pytest.raises(CatalogueError, match=r"mine\.yaml: there are two scenarios 'order'"):
        read(SHORT * 2)


def test_a_task_that_cannot_be_done_is_a_fault() -> None:
    assert faults_of(read(SHORT)) == []
    never = read(SHORT.replace("{when: {order: A7429}, done: true", "{when: {order: A7429}, done: false"))
    assert faults_of(never) == ["the tool status refuses the required slots, so that the criterion can never be met"]
    unsaid = read(SHORT.replace("'A, 7, 4, 2, 9.'", "I lost it."))
    assert faults_of(unsaid) == ["the scripted caller never says order: expected 'A7429' to be read out of its words"]


def test_the_command_checks_files(tmp_path: Path) -> None:
    said = io.StringIO()
    call_command("check_scenarios", stdout=said)
    assert "booking.yaml: 4 scenarios: all is well" in said.getvalue()
    (tmp_path / "mine.yaml").write_text(SHORT.replace("category: support", "category: sales"))
    answer, faults = io.StringIO(), io.StringIO()
    with pytest.raises(SystemExit):
        call_command("check_scenarios", tmp_path / "mine.yaml", tmp_path / "gone.yaml", stdout=answer, stderr=faults)
    assert "mine.yaml:3: category" in faults.getvalue()
    assert "gone.yaml: No such file" in faults.getvalue()


def test_the_command_tells_programs(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(SHORT)
    said = io.StringIO()
    call_command("check_scenarios", tmp_path / "mine.yaml", json=True, stdout=said)
    assert json.loads(said.getvalue()) == {"files": [{"name": "mine.yaml", "scenarios": 1, "faults": []}]}
