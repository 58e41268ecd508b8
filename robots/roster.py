"""Finding who is meant by an id or a folder on a command line, seeded registry or not."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

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
    """A row of the registry; else a shipped folder, a reference or the path of a folder, as a row that is not saved.

    Raises UnknownPolicy listing the known ids.
    """
    try:
        row = Policy.objects.filter(pk=name).first()
    except DatabaseError:  # no database yet: the shipped ones can still be played
        row = None
    if row is not None:
        return row
    if name in REFERENCES:
        return Policy(id=name, name=name, family="reference", adapter=REFERENCES[name], reference=True)
    for folder in (settings.POLICY_WEIGHTS / name, Path(name)):
        if (folder / CARD).is_file() or (folder / CONFIG).is_file():
            return _from_folder(folder)
    raise UnknownPolicy(f"unknown policy {name!r}; known: {', '.join(known_ids())}")


def known_ids() -> list[str]:
    shipped = {path.parent.name for path in settings.POLICY_WEIGHTS.glob(f"*/{CARD}")}
    try:
        registered = set(Policy.objects.values_list("pk", flat=True))
    except DatabaseError:
        registered = set()
    return sorted(shipped | registered | set(REFERENCES))


def _from_folder(folder: Path) -> Policy:
    card = describe(folder)
    return Policy(id=card.spec.id, **card_fields(card, folder))
