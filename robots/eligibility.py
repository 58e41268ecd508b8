"""The policies that may be drawn for a robot and scene, and those that workers can open."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from arena.models import Contestant, ContestantQuerySet
from policies.models import ROBOTS, Policy
from policies.registry import families


def eligible(robot_id: str, scene_id: str) -> ContestantQuerySet[Any]:
    """Contestants whose card declares the robot's action space and rate, and cameras of the scene. One query."""
    made_for = Policy.objects.made_for(robot_id, scene_id).values("pk")
    return Contestant.objects.filter(kind=ROBOTS, pk__in=made_for).contestants()


def with_weights() -> QuerySet[Policy]:
    """References, and policies whose weights are on this machine."""
    found: QuerySet[Policy] = Policy.objects.exclude(model_path="", adapter__in=families)
    return found
