"""Opening a policy folder by its family's name. Importing this loads no network library; opening a policy does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import cast

from policies.base import OpenedPolicy, PolicyCard, UnknownFamily
from policies.embodiment import fitting
from policies.folder import CARD, SUMS, check_sums, read_card
from policies.published import published_card
from simulation.contracts import Embodiment

Opener = Callable[[Path, PolicyCard, str | None], OpenedPolicy]

# Family name -> "module:function". The function opens a folder whose hashes have been checked.
families: dict[str, str] = {
    "film": "policies.film.policy:open_film",
    "octo": "policies.octo.policy:open_octo",
    "openvla": "policies.openvla.policy:open_openvla",
}


def describe(folder: Path, statistics_key: str | None = None) -> PolicyCard:
    """Read policy.json, or what a published checkpoint has in its place; neither weights nor hashes are looked at.

    `statistics_key`: the data set whose units the actions have; None leaves the choice to the card.
    """
    if not (folder / CARD).is_file():
        return published_card(folder, statistics_key)
    card = read_card(folder)
    return replace(card, spec=replace(card.spec, statistics_key=statistics_key)) if statistics_key else card


def open_policy(
    folder: Path,
    device: str | None = None,
    statistics_key: str | None = None,
    worlds: Iterable[Embodiment] | None = None,
) -> OpenedPolicy:
    """Check every hash, then let the family open the folder. Raises a PolicyError that says what is wrong.

    `device`: a torch device name; None takes the CPU. A published checkpoint need not bring hashes.
    `worlds`: what it is opened for; it has to fit one of them, and None leaves the comparison to the caller.
    """
    card = describe(folder, statistics_key)
    if worlds is not None:
        fitting(card.spec, worlds)
    if card.spec.family not in families:
        raise UnknownFamily(f"{folder}: unknown family {card.spec.family!r}; known: {', '.join(sorted(families))}")
    if (folder / CARD).is_file() or (folder / SUMS).is_file():
        check_sums(folder, required=(CARD,) if (folder / CARD).is_file() else ())
    module, _, function = families[card.spec.family].partition(":")
    opener = cast(Opener, getattr(import_module(module), function))
    return opener(folder, card, device)
