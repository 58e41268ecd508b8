"""All that an outsider makes of some battles: who can be named beyond chance, and by what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.blind import attacks
from tests.blind.features import Numbers, ends_of, form_of, motion_of, rows_of, time_of
from tests.blind.naming import Named, name
from tests.blind.peek import SIDES, Peeked

Feature = Callable[[Peeked, str], Numbers]


def kinds(manifest: Mapping[str, Any]) -> dict[str, Feature]:
    """Kind of feature -> how it is read."""
    nq = int(manifest["nq"])
    return {
        "form": lambda peeked, side: form_of(peeked, side, nq),
        "time": lambda peeked, side: time_of(peeked, side, nq),
        "form and time": lambda peeked, side: form_of(peeked, side, nq) | time_of(peeked, side, nq),
        "motion": lambda peeked, side: motion_of(rows_of(peeked, side, manifest)),
    }


def naming_by(kind: str, battles: Sequence[Peeked], manifest: Mapping[str, Any], deals: int = 999) -> Named:
    """What form and time tell beyond when a turn ends and how often it failed, which everybody sees; and what motion
    tells in all."""
    read = kinds(manifest)[kind]
    sides = [read(peeked, side) for peeked in battles for side in SIDES]
    targets = {
        "model": [peeked.models[side] for peeked in battles for side in SIDES],
        "family": [peeked.families[side] for peeked in battles for side in SIDES],
    }
    if kind == "motion":
        return name(sides, targets, deals)
    failures = [peeked.failures for peeked in battles]
    return name(sides, targets, deals, known=[ends_of(peeked) for peeked in battles], apart=failures)


def attacked(battles: Sequence[Peeked], manifest: Mapping[str, Any], most: int) -> dict[str, dict[str, int]]:
    """Sides named by running the networks, of `most` battles: exactly, and by motion."""
    found = {"exactly": {"named": 0, "right": 0}, "by motion": {"named": 0, "right": 0}}
    for peeked in battles[:most]:
        for side in SIDES:
            exact = attacks.named_exactly(peeked, side)
            guess = attacks.named_by_motion(rows_of(peeked, side, manifest), peeked.instruction)
            for way, who in (("exactly", exact), ("by motion", guess)):
                found[way]["named"] += who is not None
                found[way]["right"] += who == peeked.models[side]
    return found


def told(battles: Sequence[Peeked], manifest: Mapping[str, Any], deals: int, attacks_on: int) -> dict[str, Any]:
    """Everything, for `make test-blind`."""
    named = {kind: naming_by(kind, battles, manifest, deals) for kind in kinds(manifest)}
    return {
        "battles": len(battles),
        "with failures": sum(peeked.failures > 0 for peeked in battles),
        "sides": dict(Counter(model for peeked in battles for model in peeked.models.values()).most_common()),
        **{kind: {"right": one.right, "chance": one.chance, "p": one.p} for kind, one in named.items()},
        "networks run": {"sides": 2 * min(attacks_on, len(battles)), **attacked(battles, manifest, attacks_on)},
    }
