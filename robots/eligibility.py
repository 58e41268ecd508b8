"""Which policies may meet in a robot's session: those made for its robot and scene. Opens nothing."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from arena.models import Contestant, ContestantQuerySet
from policies.models import Policy, PolicyWorld
from policies.registry import families


def eligible(robot_id: str, scene_id: str) -> ContestantQuerySet[Any]:
    """Contestants whose card declares the robot's action space and rate, and cameras of the scene; one query.

    A policy without a card declares nothing: it is compared when a worker opens its folder.
    """
    fitting = PolicyWorld.objects.filter(robot_id=robot_id, scene_id=scene_id).values("policy")
    return Contestant.objects.contestants().filter(Q(pk__in=fitting) | Q(policy__card={}))


def with_weights() -> QuerySet[Policy]:
    """All that a worker can open: references, and policies whose weights are here."""
    found: QuerySet[Policy] = Policy.objects.exclude(model_path="", adapter__in=families)
    return found
