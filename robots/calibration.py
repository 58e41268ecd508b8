"""Calibration battles: they show voters an earlier battle again, to learn how consistent their votes are.

A *repeat* has the pair, first state, secret and instruction of an earlier battle of the same voter, with the sides
swapped. It is decided when the first instruction arrives, in one query, and kept in `Battle.purpose`, which visitors
never learn. A program that stores what it is shown can recognise a repeat, but gains nothing: repeats count in no
ranking, and votes on them give a voter no more weight (decision: doubtful-votes; `rankings.tally.weights`).
"""

from __future__ import annotations

import secrets
from typing import Any

from django.conf import settings
from django.db.models import Case, Count, Exists, F, OuterRef, Sum, When, Window

from arena.kinds import CalibrationBattle
from arena.models import Battle, Purpose, Turn, Vote
from arena.queue.hosting import Hosts
from simulation import catalogue

REMEMBERED = 200
"""How many of a voter's last votes may be repeated."""
GAP = 3
"""So many of the last votes are not repeated: the voter may remember them."""
_random = secrets.SystemRandom()


def maybe_repeat(battle: Battle, instruction: str, hosts: Hosts) -> CalibrationBattle | None:
    """The repeat that this battle becomes with its first instruction, or None. Only hosted policies are repeated."""
    voter = battle.session.user_id
    if voter is None:
        return None
    past = _past_votes(voter)
    votes, repeats = (past[0].votes, past[0].all_repeats) if past else (0, 0)
    if _due(settings.REPEAT_SHARE * (1 + votes) - repeats):
        return _repeat(battle, instruction, hosts, past)
    return None


def _past_votes(voter: str) -> list[Any]:
    """Rows of the last votes, newest first, each with the number of all `votes` and `all_repeats`. One query."""
    first = Vote.objects.filter(user_id=voter, battle__turns__seq=1).order_by("-voted_at", "-pk")
    later = Turn.objects.filter(battle=OuterRef("battle_id"), seq=2, is_fork=False)
    repeats = Case(When(purpose=Purpose.REPEAT, then=1), default=0)
    counted = first.annotate(
        votes=Window(Count("pk")),
        all_repeats=Window(Sum(repeats)),
        repeated=Exists(Battle.objects.filter(repeats=OuterRef("battle_id"))),
        went_on=Exists(later),
        instruction=F("battle__turns__instruction"),
    )
    own = ("votes", "all_repeats", "battle_id", "purpose", "setting", "scene", "repeated", "went_on", "instruction")
    of_battle = ("battle__left_model_id", "battle__right_model_id", "battle__seed", "battle__secret")
    return list(counted.values_list(*own, *of_battle, named=True)[:REMEMBERED])


def _due(missing: float) -> bool:
    """Whether to make a repeat now, when so many are `missing` from the wanted share."""
    return missing > 0 and _random.random() < missing


def _repeat(battle: Battle, instruction: str, hosts: Hosts, past: list[Any]) -> CalibrationBattle | None:
    """A past battle of one turn with the same instruction in the same scene, between policies that are still drawn."""
    place = (battle.session.setting, battle.session.scene)
    ranked = [vote for vote in past if vote.purpose == Purpose.RANK and (vote.setting, vote.scene) == place]
    wanted = catalogue.normalise(instruction)
    earlier = [
        vote
        for vote in ranked[GAP:]
        if not vote.repeated
        and not vote.went_on
        and catalogue.normalise(vote.instruction) == wanted
        and {vote.battle__left_model_id, vote.battle__right_model_id} <= hosts.contestants
    ]
    if not earlier:
        return None
    chosen = _random.choice(earlier)
    return CalibrationBattle(
        purpose=Purpose.REPEAT.value,
        left_model_id=chosen.battle__right_model_id,
        right_model_id=chosen.battle__left_model_id,
        seed=chosen.battle__seed,
        secret=chosen.battle__secret,
        repeats_id=chosen.battle_id,
    )
