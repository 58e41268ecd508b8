"""Registering a folder of weights once it has been opened completely and has inferred. Loads torch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from policies import memory
from policies.base import BadCard, OpenedPolicy, PolicyError
from policies.embodiment import fitting
from policies.entering import Added, enter
from policies.folder import CARD
from policies.memory import OutOfMemory
from policies.models import Policy
from policies.names import PUBLISHED, card_fields
from policies.registry import describe, open_policy
from simulation.contracts import ACTION_CHUNK, Embodiment, SimulationError

INSTRUCTION = "pick up the red cube"


@dataclass(frozen=True)
class Registration:
    """What the moderator asks for. `columns`: registry columns that override the folder's card where not empty."""

    model_id: str
    folder: Path
    family: str = ""
    statistics_key: str = ""
    device: str | None = None
    centre_crop: float | None = None
    columns: dict[str, str] = field(default_factory=dict)


def add_policy(registration: Registration, worlds: Iterable[Embodiment]) -> Added:
    """Open the folder, let it infer once, and add or update its row. Raises PolicyError and then changes no row.

    `worlds`: those of the arena, of which the policy has to fit one.
    """
    folder = registration.folder.resolve()
    found = Policy.objects.filter(id=registration.model_id).first()
    key = registration.statistics_key or _usual_key(registration.model_id, found, folder)
    if registration.centre_crop is not None and (folder / CARD).is_file():
        raise BadCard(f"{folder / CARD} says itself which centre crop it takes: its network's centre_crop")
    card = describe(folder, key or None, registration.centre_crop)
    if registration.family and registration.family != card.spec.family:
        raise BadCard(f"{folder}: a folder of the family {card.spec.family!r}, not {registration.family!r}")
    fits = fitting(card.spec, worlds)
    _check_room(folder, registration.device or "cpu", key or None)
    policy = open_policy(folder, registration.device, key or None, centre_crop=registration.centre_crop)
    try:
        _try_out(policy)
        count = memory.parameters(policy)
    finally:
        policy.close()
    fields = {**card_fields(card, folder), "statistics_key": key, "parameters": count}
    fields, warnings = _with_published_facts(registration.model_id, fields)
    fields |= {name: text for name, text in registration.columns.items() if text}
    return enter(registration.model_id, fields, fits, warnings)


def _check_room(folder: Path, device: str, statistics_key: str | None) -> None:
    """Raise OutOfMemory before weights are read that the device has no room for: the system would end the process."""
    needed = memory.HEADROOM * memory.expected_bytes(folder, device, statistics_key)
    free = memory.free(device)
    if needed > free:
        raise OutOfMemory(
            f"{folder}: opening it takes {needed / 1e9:.1f} GB, {device} has {free / 1e9:.1f} GB free; "
            "run this where there is room, or with --device cuda on a graphics card"
        )


def _usual_key(model_id: str, found: Policy | None, folder: Path) -> str:
    """The key that the row has, or a published policy's, or "" where the folder lacks it."""
    known = found.statistics_key if found else PUBLISHED.get(model_id, {}).get("statistics_key", "")
    try:
        return known if known and describe(folder, known) else ""
    except PolicyError:
        return ""


def _with_published_facts(model_id: str, fields: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The row's fields, completed under a published name by what is known of that policy; and warnings.

    Weights of another size are not the published ones, so they get neither its name nor its facts.
    """
    facts = PUBLISHED.get(model_id)
    if facts is None:
        return fields, []
    if fields["parameters"] != facts["parameters"]:
        sizes = f"{model_id} as published has {facts['parameters']:,} parameters, this network {fields['parameters']:,}"
        return {**fields, "name": model_id}, [f"{sizes}: it is entered without the published model's name and facts"]
    keep = ("revision", "model_path", "card", "statistics_key", "weights_bytes", "parameters")
    return {**fields, **facts, **{name: fields[name] for name in keep}}, []


def _try_out(policy: OpenedPolicy) -> None:
    """Infer once on grey pictures. Raises PolicyError unless the answer is a chunk of actions."""
    policy.reset(INSTRUCTION, 0)
    try:
        ACTION_CHUNK.check(policy.infer(policy.spec.grey_observation(INSTRUCTION)))
    except SimulationError as error:
        raise PolicyError(f"{policy.spec.id}: its first answer is not usable: {error}") from error
