"""Whether a file of scenarios can be used, and whether its tasks can be done at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simulation.catalogue_rows import CatalogueError
from voice.scenarios.model import Scenario
from voice.scenarios.reading import read_scenarios


@dataclass(frozen=True)
class Checked:
    """`faults`: each a line that names the file."""

    name: str
    scenarios: int
    faults: list[str]


def check_file(path: Path) -> Checked:
    """Everything that can be said of a file without a call. What cannot be read is a fault, too."""
    try:
        scenarios = read_scenarios(path.read_text("utf-8"), path.name)
    except (CatalogueError, UnicodeDecodeError) as error:
        return Checked(path.name, 0, [str(error) if isinstance(error, CatalogueError) else f"{path.name}: {error}"])
    except OSError as error:
        return Checked(path.name, 0, [f"{path.name}: {error.strerror}"])
    found = [f"{path.name}: {each.id}: {fault}" for each in scenarios for fault in faults_of(each)]
    return Checked(path.name, len(scenarios), found)


def faults_of(scenario: Scenario) -> list[str]:
    """What makes a scenario impossible: a tool that never does what the right values ask of it, a slot that the caller
    never says."""
    return [*_impossible_tools(scenario), *_unsaid_slots(scenario)]


def _impossible_tools(scenario: Scenario) -> list[str]:
    right = {name: expected.value for name, expected in scenario.required_slots.items()}
    called = [scenario.tools[each.calls] for each in scenario.success_criteria if each.calls]
    return [
        f"the tool {tool.id} refuses the required slots, so that the criterion can never be met"
        for tool in called
        if set(tool.parameters) <= set(right) and not tool.answer(right).done
    ]


def _unsaid_slots(scenario: Scenario) -> list[str]:
    script = scenario.caller
    words = [script.opening, script.closing, *(each.say for each in script.answers)]
    words += [twist.say for twist in scenario.twists]
    found = []
    for name, expected in scenario.required_slots.items():
        said = {value for text in words for value in scenario.slots[name].answers(text)}
        if not said & set(expected.all):
            found.append(
                f"the scripted caller never says {name}: expected {expected.value!r} to be read out of its words"
            )
    return found
