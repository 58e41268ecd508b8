"""Opening a policy folder by its family's name. Importing this loads no network library; opening a policy does."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from policies.base import OpenedPolicy, PolicyCard, UnknownFamily
from policies.folder import CARD, check_sums, read_card

Opener = Callable[[Path, PolicyCard, str | None], OpenedPolicy]

# Family name -> "module:function". The function opens a folder whose hashes have been checked.
families: dict[str, str] = {"film": "policies.film.policy:open_film"}


def describe(folder: Path) -> PolicyCard:
    """Read policy.json; neither weights nor hashes are looked at."""
    return read_card(folder)


def open_policy(folder: Path, device: str | None = None) -> OpenedPolicy:
    """Check every hash, then let the family open the folder. Raises a PolicyError that says what is wrong.

    `device`: a torch device name; None takes the CPU.
    """
    card = read_card(folder)
    if card.spec.family not in families:
        raise UnknownFamily(f"{folder}: unknown family {card.spec.family!r}; known: {', '.join(sorted(families))}")
    check_sums(folder, required=(CARD,))
    module, _, function = families[card.spec.family].partition(":")
    opener = cast(Opener, getattr(import_module(module), function))
    return opener(folder, card, device)
