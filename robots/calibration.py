"""Calibration battles: a few first turns show what the voter has judged before, to learn how steady voters are.

A *repeat* is an earlier battle of the same voter once more: same pair, same first state, same secret, same instruction,
sides swapped. A careful voter says the same of the same.

A program that keeps what it was shown can tell a repeat from other battles, since it is the same once more. That gives
it nothing: repeats count in no ranking, and what a voter says of them makes no vote weigh more
(decision: doubtful-votes). What makes votes weigh more is said in ordinary battles in which physics turned out clear,
and nothing tells these from others beforehand (`rankings.tally.weights`).

Which battle is one is decided when its first instruction arrives, before anything of it was played, and is kept in
`Battle.purpose`, which no visitor is ever told. Votes on calibration battles are counted in no ranking. Deciding takes
one query and changing the battle none of its own, so that the first turn costs what any other does.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

from django.conf import settings
from django.db.models import Case, Count, Exists, OuterRef, Sum, When, Window

from arena.kinds import CalibrationBattle
from arena.models import Battle, Purpose, Turn, Vote
from arena.queue.hosting import Hosts
from simulation import catalogue

REMEMBERED = 200
"""How many of a voter's last votes are looked through for one to repeat."""
GAP = 3
"""The last so many votes are not repeated: they are too fresh in mind."""
_dice = secrets.SystemRandom()


class _Cast(NamedTuple):
    """A vote of the voter's, and how many there are in all, of which kind."""

    votes: int
    repeats: int
    battle_id: str
    purpose: str
    setting: str
    scene: str
    left: str
    right: str
    seed: int
    secret: str
    repeated: bool
    instruction: str
    went_on: bool


def maybe_repeat(battle: Battle, instruction: str, hosts: Hosts) -> CalibrationBattle | None:
    """What this battle is to become with its first instruction, if it is to be a calibration at all.

    Calibrations are made of policies that a worker says it plays.
    """
    voter = battle.session.user_id
    if voter is None:
        return None
    cast = _cast(voter)
    votes, repeats = cast[0][:2] if cast else (0, 0)
    if _due(settings.REPEAT_SHARE * (1 + votes) - repeats):
        return _repeat(battle, instruction, hosts, cast)
    return None


def _cast(voter: str) -> list[_Cast]:
    """The last votes, newest first: one query."""
    first = Vote.objects.filter(user_id=voter, battle__turns__seq=1).order_by("-voted_at", "-pk")
    later = Turn.objects.filter(battle=OuterRef("battle_id"), seq=2, is_fork=False)
    repeats = Case(When(purpose=Purpose.REPEAT, then=1), default=0)
    of_battle = ("battle__left_model_id", "battle__right_model_id", "battle__seed", "battle__secret")
    rows = first.values_list(
        *(Window(Count("pk")), Window(Sum(repeats))),
        *("battle_id", "purpose", "setting", "scene", *of_battle),
        Exists(Battle.objects.filter(repeats=OuterRef("battle_id"))),
        "battle__turns__instruction",
        Exists(later),
    )
    return [_Cast(*row) for row in rows[:REMEMBERED]]


def _due(missing: float) -> bool:
    """Whether to make one now, when so many are missing to the share that is wanted: it evens out by itself."""
    return missing > 0 and _dice.random() < missing


def _repeat(battle: Battle, instruction: str, hosts: Hosts, cast: list[_Cast]) -> CalibrationBattle | None:
    """One of the voter's battles of one turn with the same words in the same scene, between policies still drawn."""
    place = (battle.session.setting, battle.session.scene)
    ranked = [vote for vote in cast if vote.purpose == Purpose.RANK and (vote.setting, vote.scene) == place]
    words = catalogue.normalise(instruction)
    earlier = [
        vote
        for vote in ranked[GAP:]
        if not vote.repeated
        and not vote.went_on
        and catalogue.normalise(vote.instruction) == words
        and {vote.left, vote.right} <= hosts.contestants
    ]
    if not earlier:
        return None
    chosen = _dice.choice(earlier)
    return CalibrationBattle(
        Purpose.REPEAT.value, chosen.right, chosen.left, chosen.seed, chosen.secret, chosen.battle_id
    )
