"""The policy that a command line names by its id or folder, whether the registry is filled or not; and its device."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

from policies import seeding
from policies.base import PolicyError
from policies.folder import CARD, CONFIG
from policies.models import Policy
from policies.names import card_fields
from policies.registry import describe
from robots.players import EXPERT, STILL

REFERENCES = {"scripted-expert": EXPERT, "hold-still": STILL}


class UnknownPolicy(PolicyError, LookupError):
    code = "unknown_policy"


def find_policy(name: str) -> Policy:
    """A row of the registry; else an unsaved row for a reference, a shipped folder or the path of a folder.

    Raises UnknownPolicy, which lists the known ids.
    """
    try:
        registered = {row.id: row for row in Policy.objects.all()}
    except DatabaseError:  # without a database the shipped ones can still be played
        registered = {}
    if name in registered:
        return registered[name]
    if name in REFERENCES:
        told = seeding.REFERENCES[name]["name"]
        return Policy(id=name, name=told, family="reference", adapter=REFERENCES[name], reference=True)
    for folder in (settings.POLICY_WEIGHTS / name, settings.OPTIONAL_WEIGHTS / name, Path(name)):
        if (folder / CARD).is_file() or (folder / CONFIG).is_file():
            card = describe(folder)
            return Policy(id=card.spec.id, **card_fields(card, folder))
    weights = settings.POLICY_WEIGHTS, settings.OPTIONAL_WEIGHTS
    shipped = {path.parent.name for folder in weights for path in folder.glob(f"*/{CARD}")}
    known = sorted(shipped | set(registered) | set(REFERENCES))
    raise UnknownPolicy(f"unknown policy {name!r}; known: {', '.join(known)}")


def check_device(name: str) -> None:
    """Raises PolicyError for a device that this machine lacks. Loads torch, unless it is the CPU."""
    from policies import memory

    memory.check(name)
