"""Registering the policies that ship with the arena (the folders under POLICY_WEIGHTS and the two references), and the
published ones whose weights an operator has to install.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arena.models import FOLDER_TROUBLE, ContestantStatus
from policies.base import PolicyCard, PolicyError
from policies.embodiment import fitting
from policies.folder import CARD, check_sums
from policies.models import Policy
from policies.names import PUBLISHED, card_fields, install_line
from policies.registry import describe
from simulation.contracts import Embodiment

REFERENCES: dict[str, dict[str, Any]] = {
    "scripted-expert": {
        "name": "Scripted expert",
        "adapter": "expert",
        "description": "Reads the simulator's state and moves by rule. The teacher of the trained policies.",
    },
    "hold-still": {
        "name": "Hold still",
        "adapter": "still",
        "description": "Does nothing, for every instruction. The floor of every comparison.",
    },
}
REFERENCE_FIELDS = {
    "family": "reference",
    "reference": True,
    "organization": "VLA Arena",
    "license": "Apache-2.0",
    "provenance": "Written by hand; no training",
}


@dataclass(frozen=True)
class Seeded:
    """The result for one policy. `trouble` is empty when it is ready to play."""

    model_id: str
    created: bool
    trouble: str


def seed_policies(weights: Path, worlds: Sequence[Embodiment]) -> list[Seeded]:
    """Add or update the row of every shipped policy, and keep a status that a moderator chose.

    A broken folder, or a card that fits none of `worlds` (those of the arena), makes its row unavailable. What
    `add_policy` registered under a published name stays as it is.
    """
    folders = sorted(path.parent for path in weights.glob(f"*/{CARD}"))
    seeded = [_seed_folder(folder, worlds) for folder in folders]
    seeded += [_enter(model_id, {**REFERENCE_FIELDS, **fields}) for model_id, fields in REFERENCES.items()]
    for policy in Policy.objects.filter(reference=False, model_path__startswith=f"{weights}/"):
        if Path(policy.model_path) not in folders:
            _note_trouble(policy, f"{policy.model_path} has no {CARD}; install it: {install_line(policy.id)}")
            seeded.append(Seeded(policy.id, False, policy.status_reason))
    for policy in Policy.objects.exclude(card={}):
        _refresh_worlds(policy, worlds)
    return seeded + [_announce(model_id, facts) for model_id, facts in PUBLISHED.items()]


def _announce(model_id: str, facts: dict[str, Any]) -> Seeded:
    """Add or update the row of published weights. Without a folder it is unavailable and says how to install one."""
    absent = f"the weights are not here; install them: {install_line(model_id)}"
    row = Policy(id=model_id, **facts, status=ContestantStatus.UNAVAILABLE, status_reason=absent)
    found = Policy.objects.filter(id=model_id).first()
    if found is None:
        row.save(force_insert=True)
    elif not found.model_path:
        Policy.objects.filter(id=model_id).update(**facts)
        if found.status == ContestantStatus.ACTIVE:
            found.mark_unavailable(absent)
    return Seeded(model_id, found is None, "")


def _refresh_worlds(policy: Policy, worlds: Sequence[Embodiment]) -> None:
    """Compare the registered card again, because robots and scenes may have been added or removed since."""
    try:
        policy.keep_worlds(fitting(PolicyCard.from_json(policy.card).spec, worlds))
    except PolicyError as error:
        policy.keep_worlds([])
        _note_trouble(policy, str(error))


def _seed_folder(folder: Path, worlds: Sequence[Embodiment]) -> Seeded:
    try:
        card = describe(folder)
    except PolicyError as error:
        policy = Policy.objects.filter(id=folder.name).first()
        if policy:
            _note_trouble(policy, str(error))
        return Seeded(folder.name, False, str(error))
    fields = card_fields(card, folder)
    try:
        check_sums(folder, required=(CARD,))
        fitting(card.spec, worlds)
    except PolicyError as error:
        return _enter(card.spec.id, fields, trouble=str(error))
    return _enter(card.spec.id, fields)


def _enter(model_id: str, fields: dict[str, Any], trouble: str = "") -> Seeded:
    policy, created = Policy.objects.update_or_create(id=model_id, defaults=fields)
    if trouble:
        _note_trouble(policy, trouble)
    elif policy.status == ContestantStatus.UNAVAILABLE and policy.status_reason.startswith(FOLDER_TROUBLE):
        policy.activate()
    return Seeded(model_id, created, trouble)


def _note_trouble(policy: Policy, trouble: str) -> None:
    if policy.status == ContestantStatus.ACTIVE or policy.status_reason.startswith(FOLDER_TROUBLE):
        policy.mark_unavailable(f"{FOLDER_TROUBLE}{trouble}")
