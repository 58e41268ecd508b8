"""Writing a registry row of a policy that has been tried. Needs neither torch nor physics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from arena.models import ContestantStatus
from policies.models import Policy
from simulation.contracts import Embodiment


@dataclass(frozen=True)
class Added:
    """The row as it is now, and `warnings` for the moderator."""

    policy: Policy
    created: bool
    warnings: list[str]


def enter(model_id: str, fields: Mapping[str, Any], fits: Iterable[Embodiment], warnings: list[str]) -> Added:
    """Add or update the row, and let it play in the worlds that it fits. One that is retired stays so."""
    with transaction.atomic():
        row, created = Policy.objects.update_or_create(id=model_id, defaults=dict(fields))
        row.keep_worlds(fits)
    if row.status == ContestantStatus.UNAVAILABLE:
        row.activate()
    if row.status == ContestantStatus.RETIRED:
        warnings = [*warnings, f"{row.id} is retired ({row.status_reason}) and stays so; activate it in the admin"]
    return Added(row, created, warnings)
