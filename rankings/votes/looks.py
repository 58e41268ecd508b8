"""The facts of counted votes with how the sides of their battles look."""

from __future__ import annotations

import itertools

import numpy as np

from arena.kinds import Kind, Look
from arena.models import Vote
from rankings.analysis.style import Looks
from rankings.tally.counts import OUTCOMES
from rankings.tally.facts import UNKNOWN, Fact, VoteFacts

COLUMNS = ("pk", "setting", "scene", "left_model_id", "right_model_id", "user_id", "counted_vote__count__day", "vote")
ROWS_AT_ONCE = 20_000


def looks_of(kind: Kind) -> Looks | None:
    """None for a kind that measures nothing. Votes whose battle has no measures are left out."""
    if not kind.measures:
        return None
    known = {look.vote: look for look in kind.looks()}
    votes = Vote.objects.filter(kind=kind.id, counted_vote__counted=True)
    rows = votes.order_by("pk").values_list(*COLUMNS).iterator(chunk_size=ROWS_AT_ONCE)
    seen: list[Look] = []
    facts = []
    for pk, setting, scene, left, right, voter, day, vote in rows:
        if pk in known and vote in OUTCOMES:
            seen.append(known[pk])
            about = (setting, scene, "", left, right, voter or "", day.isoformat())
            facts.append(Fact(*about, OUTCOMES.index(vote), UNKNOWN, 0, 0))
    return _looks(kind, facts, seen)


def _looks(kind: Kind, facts: list[Fact], seen: list[Look]) -> Looks:
    size = len(kind.measures)
    left, right = (
        np.array(list(itertools.chain.from_iterable(side)), dtype=float).reshape(-1, size)
        for side in ((look.left for look in seen), (look.right for look in seen))
    )
    return Looks(
        VoteFacts.of(facts),
        {name: left[:, place] for place, name in enumerate(kind.measures)},
        {name: right[:, place] for place, name in enumerate(kind.measures)},
        {name: [look.groups.get(name, "") for look in seen] for name in kind.groups},
    )
