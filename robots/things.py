"""Things that a battle's seed left out of its scene: nothing can be asked of them, and visitors are told so."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable

from arena.errors import ArenaError
from arena.models import Battle
from robots import first_states
from simulation import catalogue
from simulation.catalogue import Scene

WAIT_S, POLL_S = 1.5, 0.05
"""How long an instruction waits for a worker to tell what is there; it takes milliseconds unless none is free."""


class NotThere(ArenaError):
    """`missing` and `there`: what things are called, in English as in instructions."""

    status, code = 422, "not_there"

    def __init__(self, missing: Iterable[str], there: Iterable[str]) -> None:
        names, others = list(missing), list(there)
        super().__init__(
            f"There is no {' and no '.join(names)} here. There are: {', '.join(others)}.", missing=names, there=others
        )


class OtherThings(ArenaError):
    """Every start of such a scene has other things, so an instruction about one of them has no sense in all."""

    status, code = 422, "other_things"
    detail = "Each start of this scene has other things on it: ask for these from one start."


def check(battle: Battle, instruction: str, starts: int) -> None:
    """Raises NotThere and OtherThings for an instruction about things that the battle's seed left out, or that other
    starts may lack.

    It depends on the battle's first state alone, which both sides share. While no worker has made that, nothing is
    refused; what is asked of things that are not there then has no verdict (`Environment.set_instruction`).
    """
    scene = catalogue.scene(battle.session.scene)
    if not (scene.draws and (asked := asked_for(instruction, scene))):
        return
    if starts > 1:
        raise OtherThings
    left_out = _left_out(battle) or ()
    if missing := [name for name in asked if name in left_out]:
        raise NotThere(_called(scene, missing), _called(scene, _there(scene, left_out)))


def asked_for(instruction: str, scene: Scene) -> list[str]:
    """The things, of those that a seed may leave out, that an instruction is about; none of free text."""
    meaning = catalogue.task_for(instruction, scene.id)
    named = catalogue.things_of(meaning) if meaning else ()
    return [name for name in named if scene.things[name].kind == "object"]


def _there(scene: Scene, left_out: Collection[str]) -> list[str]:
    return [name for name, thing in scene.things.items() if thing.kind == "object" and name not in left_out]


def _called(scene: Scene, names: Iterable[str]) -> list[str]:
    return [scene.things[name].nouns[0].text for name in names]


def _left_out(battle: Battle) -> list[str] | None:
    """None if no worker has told in time."""
    until = time.monotonic() + WAIT_S
    while (found := first_states.left_out(battle)) is None and time.monotonic() < until:
        time.sleep(POLL_S)
    return found
