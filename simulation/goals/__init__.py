"""Goals: predicates over physics, as the tasks of the catalogue name them, joined into what an instruction asks for."""

from __future__ import annotations

from collections.abc import Mapping

from simulation import catalogue
from simulation.goals.handling import Lifted, Placed, Stacked
from simulation.goals.judging import Goal, GoalProgress
from simulation.goals.reading import Names, read_goal
from simulation.goals.view import Hand, View

__all__ = [
    "Goal",
    "GoalProgress",
    "Hand",
    "Lifted",
    "Placed",
    "Stacked",
    "View",
    "goal_for",
    "goal_of",
    "names_in",
]


def goal_for(instruction: str, scene_id: str | None = None) -> Goal | None:
    """The goal of a sentence, or None for free text, which cannot be judged."""
    found = catalogue.task_for(instruction, scene_id)
    return goal_of(*found) if found else None


def goal_of(task_id: str, slots: Mapping[str, str]) -> Goal:
    """The goal of a filled task. Raises CatalogueError with file and line."""
    return read_goal(catalogue.task_row(task_id), slots, names_in(catalogue.task(task_id).scene_id))


def names_in(scene_id: str) -> Names:
    """What the goals of a scene may name."""
    scene = catalogue.scene(scene_id)
    return {"thing": frozenset(scene.things), "region": frozenset(scene.regions), "joint": frozenset(scene.joints)}
