"""Which policies may meet in a robot's session: those made for its robot and scene. Opens nothing."""

from __future__ import annotations

from policies.models import Policy, PolicyQuerySet


def eligible(robot_id: str, scene_id: str) -> PolicyQuerySet:
    """Contestants whose card declares the robot's action space and rate, and cameras of the scene; one query."""
    return Policy.objects.contestants().made_for(robot_id, scene_id)
