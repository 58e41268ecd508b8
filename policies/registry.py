"""Opening a policy folder by its family's name. Only opening loads a network library, not importing this module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from policies.base import OpenedPolicy, PolicyCard, UnknownFamily
from policies.embodiment import fitting
from policies.folder import CARD, REFERENCE, SUMS, WEIGHTS, check_sums, read_card
from policies.published import published_card
from simulation.contracts import Embodiment

Opener = Callable[[Path, PolicyCard, str | None], OpenedPolicy]

# Family name -> "module:function". The function opens a folder whose hashes have been checked.
families: dict[str, str] = {
    "film": "policies.film.opening:open_film",
    "octo": "policies.octo.opening:open_octo",
    "openvla": "policies.openvla.opening:open_openvla",
    "remote": "policies.remote.policy:open_remote",
}
MOST_EXPORTED = 64 << 20
"""Bytes of weights that anything else than torch computes."""
REMOTE = "remote"
"""The family whose networks run elsewhere: its rows hold the whole card, and need no folder."""


def describe(folder: Path, statistics_key: str | None = None, centre_crop: float | None = None) -> PolicyCard:
    """The card from policy.json, or from a published checkpoint's files. Reads neither weights nor hashes.

    `statistics_key`: the data set whose units the actions have; with None, the card decides.
    `centre_crop`: of a published checkpoint, the area of pictures that it sees; a policy.json says it itself.
    """
    if not (folder / CARD).is_file():
        return published_card(folder, statistics_key, centre_crop)
    card = read_card(folder)
    return replace(card, spec=replace(card.spec, statistics_key=statistics_key)) if statistics_key else card


def card_of(adapter: str, folder: Path, statistics_key: str | None, card: Mapping[str, Any]) -> PolicyCard:
    """The card of a registry row: that of its folder, or of a remote policy the row's own."""
    return PolicyCard.from_json(card) if adapter == REMOTE else describe(folder, statistics_key, crop_of(card))


def crop_of(card: Mapping[str, Any]) -> float | None:
    """The centre crop in a registry row's card."""
    return (card.get("network") or {}).get("centre_crop")


def needs_torch(folder: Path, device: str | None = None) -> bool:
    """Whether only torch can play the folder there, as far as its files tell: without a record of torch's answers
    nothing else is compared with it, and large weights would be held twice while they are read.
    """
    return device not in (None, "cpu") or not _is_small_with_answers(folder) or find_spec("onnxruntime") is None


def _is_small_with_answers(folder: Path) -> bool:
    weights = folder / WEIGHTS
    return (folder / REFERENCE).is_file() and weights.is_file() and weights.stat().st_size <= MOST_EXPORTED


def open_policy(
    folder: Path,
    device: str | None = None,
    statistics_key: str | None = None,
    worlds: Iterable[Embodiment] | None = None,
    centre_crop: float | None = None,
) -> OpenedPolicy:
    """Check every hash, then let the family open the folder. Raises a PolicyError that says what is wrong.

    `device`: a torch device name, the CPU by default. A published checkpoint need not have hashes.
    `worlds`: those of which the policy has to fit one; with None, the caller compares.
    """
    card = describe(folder, statistics_key, centre_crop)
    if worlds is not None:
        fitting(card.spec, worlds)
    if card.spec.family not in families:
        raise UnknownFamily(f"{folder}: unknown family {card.spec.family!r}; known: {', '.join(sorted(families))}")
    if (folder / CARD).is_file() or (folder / SUMS).is_file():
        check_sums(folder, required=(CARD,) if (folder / CARD).is_file() else ())
    module, _, function = families[card.spec.family].partition(":")
    opener = cast(Opener, getattr(import_module(module), function))
    return opener(folder, card, device)
