"""Which policies may meet in a robot's session: those made for its robot and scene. Opens nothing."""

from __future__ import annotations

from typing import Any

from arena.models import Contestant, ContestantQuerySet
from policies.models import ROBOTS, Policy


def eligible(robot_id: str, scene_id: str) -> ContestantQuerySet[Any]:
    """Contestants whose card declares the robot's action space and rate, and cameras of the scene; one query."""
    made_for = Policy.objects.made_for(robot_id, scene_id).values("pk")
    return Contestant.objects.filter(kind=ROBOTS, pk__in=made_for).contestants()
