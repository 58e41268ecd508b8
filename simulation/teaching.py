"""The scripted experts that teach: their action depends on the present state alone, so that they can label any."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simulation import expert, franka_expert, panda_expert, ur5e_expert
from simulation.contracts import Floats
from simulation.environment import Environment
from simulation.goals import Goal
from simulation.worlds import franka, panda, ur5e, widowx


@dataclass(frozen=True)
class Teacher:
    """`act`: the action (n,) for the present state, of a goal that has begun. `due`: the part of that goal at which it
    works now; None once all are reached.
    """

    act: Callable[[Environment, Goal | None], Floats]
    due: Callable[[Environment, Goal], Goal | None]


TEACHERS: Mapping[str, Teacher] = {
    widowx.id: Teacher(expert.act, expert.due),
    ur5e.id: Teacher(ur5e_expert.act, ur5e_expert.due),
    franka.id: Teacher(franka_expert.act, franka_expert.due),
    panda.id: Teacher(panda_expert.act, panda_expert.due),
}
"""Robot -> its teacher."""
