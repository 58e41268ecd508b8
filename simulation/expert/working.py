"""From what a goal says to the skill that is due: of joined goals, the first that is not reached yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulation.contracts import Floats
from simulation.expert import skills
from simulation.expert.hand import Planner
from simulation.goals import Goal
from simulation.goals.changes import Moved, Swapped, Turned
from simulation.goals.handling import Lifted, Placed, Stacked
from simulation.goals.joins import All, Any, Not, Stages
from simulation.goals.places import Between, In, NextTo, On, Tipped, Touching, Upright

Skill = Callable[[Planner, Goal], Floats]
SKILLS: Mapping[type, Callable[..., Floats]] = {
    Lifted: skills.lift,
    Placed: skills.place,
    On: skills.place,
    Stacked: skills.stack,
    In: skills.put_in,
    NextTo: skills.put_next_to,
    Between: skills.put_between,
    Moved: skills.push,
    Turned: skills.turn,
    Swapped: skills.swap,
    Touching: skills.touch,
    Tipped: skills.knock_over,
    Upright: skills.stand_up,
}
UNDOING: Mapping[type, Callable[..., Floats]] = {In: skills.take_out}
"""Of goals that are not to be reached."""
JOINS = (All, Any, Stages)
HELD = (Lifted, Touching, Tipped)
"""Reached whether or not the hand holds the thing."""


def next_action(planner: Planner, goal: Goal) -> Floats | None:
    """The action that is due for a goal that has begun; None if no skill serves it."""
    if isinstance(goal, All):
        return _of_all(planner, goal)
    if isinstance(goal, Any):
        known = (next_action(planner, each) for each in goal.goals)
        return next((action for action in known if action is not None), None)
    if isinstance(goal, Stages):
        return next_action(planner, goal.ahead(planner.view))
    skill = _skill_of(goal)
    return skill(planner, goal) if skill else None


def due_part(planner: Planner, goal: Goal) -> Goal | None:
    """What of a goal that has begun is worked at: no join of others."""
    if isinstance(goal, All):
        due = _due_of(planner, _parts_of(goal)[0])
        return due_part(planner, due) if due else None
    if isinstance(goal, Any):
        parts = (due_part(planner, each) for each in goal.goals)
        return next((part for part in parts if part is not None), None)
    if isinstance(goal, Stages):
        return due_part(planner, goal.ahead(planner.view))
    return goal if _skill_of(goal) else None


def _of_all(planner: Planner, goal: All) -> Floats | None:
    parts, moved = _parts_of(goal)
    due = _due_of(planner, parts)
    if isinstance(due, Placed) and sum(_is_on(part, due.support) for part in parts) > 1:
        return skills.place(planner, due, shared=True)
    if isinstance(due, Between):
        return skills.put_between(planner, due, moved)
    if isinstance(due, NextTo):
        return skills.put_next_to(planner, due, moved)
    return next_action(planner, due) if due else None


def _parts_of(goal: All) -> tuple[list[Goal], Moved | None]:
    """The parts that are work, and how far a thing has to go as well, which is a part only where there is no other."""
    work = [part for part in goal.goals if _is_work(part)]
    moved = next((part for part in work if isinstance(part, Moved) and part.direction == "any"), None)
    return [part for part in work if part is not moved] or work, moved


def _due_of(planner: Planner, parts: list[Goal]) -> Goal | None:
    """The first part that is not done; once all are, the hand leaves the last one alone."""
    due = next((part for part in parts if not _is_done(planner, part)), None)
    return due or next((part for part in parts if isinstance(part, Placed | On | NextTo | Between | Upright)), None)


def _is_on(goal: Goal, support: str) -> bool:
    return isinstance(goal, Placed) and goal.support == support


def _skill_of(goal: Goal) -> Skill | None:
    if isinstance(goal, Not):
        undoing = UNDOING.get(type(goal.goal))
        return (lambda planner, _: undoing(planner, goal.goal)) if undoing else None
    return SKILLS.get(type(goal))


def _is_work(goal: Goal) -> bool:
    return isinstance(goal, JOINS) or _skill_of(goal) is not None


def _is_done(planner: Planner, goal: Goal) -> bool:
    """Whether it is reached, and the hand has let go."""
    if not goal.judge(planner.view).success:
        return False
    if isinstance(goal, (*JOINS, *HELD)):
        return True
    told = goal.goal if isinstance(goal, Not) else goal
    name = getattr(told, "thing", None)
    return name is None or planner.view.pads_touching(name) == 0
