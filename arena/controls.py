"""Control battles: a few first turns show something that the voter has judged before, to learn how steady voters are.

A *repeat* is an earlier battle of the same voter once more: same pair, same first state, same secret, same instruction,
sides swapped. A careful voter says the same of the same.

A program that keeps what it was shown can tell a repeat from other battles, since it is the same once more. That gives
it nothing: repeats count in no ranking, and what a voter says of them makes no vote weigh more
(decision: doubtful-votes). What makes votes weigh more is said in ordinary battles in which physics turned out clear,
and nothing tells these from others beforehand (`rankings.trust`).

Which battle is one is decided when its first instruction arrives, before anything of it was played, and is kept in
`Battle.purpose`, which no visitor is ever told. Votes on control battles are not counted in any ranking. Deciding takes
one query and changing the battle none of its own, so that a control's first turn costs what any other's does.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import NamedTuple

from django.conf import settings
from django.db import connection

from arena.hosting import Hosts
from arena.models import Battle, Purpose
from simulation import catalogue

REMEMBERED = 200
"""How many of a voter's last votes are looked through for one to repeat."""
GAP = 3
"""The last so many votes are not repeated: they are too fresh in mind."""
_dice = secrets.SystemRandom()

VOTES = """
WITH cast_votes AS (
    SELECT id, battle_id, purpose, robot_id, scene_id, voted_at, COUNT(*) OVER () AS votes,
        SUM(CASE WHEN purpose = 'repeat' THEN 1 ELSE 0 END) OVER () AS repeats
    FROM votes WHERE user_id = %s ORDER BY voted_at DESC, id DESC LIMIT %s
)
SELECT vote.votes, vote.repeats, vote.battle_id, vote.purpose, vote.robot_id, vote.scene_id,
    battle.left_model_id, battle.right_model_id, battle.seed, battle.secret, again.id IS NOT NULL,
    turn.instruction, later.id IS NOT NULL
FROM cast_votes AS vote
JOIN battles AS battle ON battle.battle_id = vote.battle_id
JOIN turns AS turn ON turn.battle_id = vote.battle_id AND turn.seq = 1
LEFT JOIN turns AS later ON later.battle_id = vote.battle_id AND later.seq = 2 AND NOT later.exploration
LEFT JOIN battles AS again ON again.repeats_id = vote.battle_id
ORDER BY vote.voted_at DESC, vote.id DESC
"""
"""A voter's last votes and what they were on, with the numbers of all of the voter's: asked by every first turn."""


@dataclass(frozen=True)
class Control:
    """What a battle becomes. `seed`: of the first state of both sides; `secret`: of what both see; `repeats`: the id of
    the earlier battle."""

    purpose: Purpose
    left: str
    right: str
    seed: int
    secret: str
    repeats: str

    def columns(self) -> dict[str, str | int]:
        """Of the table of battles."""
        return {
            "purpose": self.purpose.value,
            "left_model_id": self.left,
            "right_model_id": self.right,
            "seed": self.seed,
            "secret": self.secret,
            "repeats_id": self.repeats,
        }


class _Cast(NamedTuple):
    """A vote of the voter's, and how many there are in all, of which kind."""

    votes: int
    repeats: int
    battle_id: str
    purpose: str
    robot_id: str
    scene_id: str
    left: str
    right: str
    seed: int
    secret: str
    repeated: bool
    instruction: str
    went_on: bool


def maybe_control(battle: Battle, instruction: str, hosts: Hosts) -> Control | None:
    """What this battle is to become with its first instruction, if it is to be a control at all.

    Controls are made of policies that a worker says it plays.
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
    """The last votes, newest first."""
    with connection.cursor() as cursor:
        cursor.execute(VOTES, [voter, REMEMBERED])
        return [_Cast(*row) for row in cursor.fetchall()]


def _due(missing: float) -> bool:
    """Whether to make one now, when so many are missing to the share that is wanted: it evens out by itself."""
    return missing > 0 and _dice.random() < missing


def _repeat(battle: Battle, instruction: str, hosts: Hosts, cast: list[_Cast]) -> Control | None:
    """One of the voter's battles of one turn with the same words in the same scene, between policies still drawn."""
    place = (battle.session.robot_id, battle.session.scene_id)
    ranked = [vote for vote in cast if vote.purpose == Purpose.RANK and (vote.robot_id, vote.scene_id) == place]
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
    return Control(Purpose.REPEAT, chosen.right, chosen.left, chosen.seed, chosen.secret, chosen.battle_id)
