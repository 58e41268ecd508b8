"""Votes with the judged turns of their battles, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from django.db.models import QuerySet

from arena.models import Attempt, Turn, Vote, turns_of

BATCH = 200


def with_turns(votes: QuerySet[Vote]) -> Iterator[tuple[Vote, list[Turn]]]:
    """Each vote of a query in the order of its keys, with the turns that it judged in theirs: three queries for BATCH
    votes. Forks are left out."""
    last = 0
    rows = votes.select_related("battle__session", "counted_vote__count").order_by("pk")
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        last = batch[-1].pk
        attempts = Attempt.objects.filter(turn__battle__in=[vote.battle_id for vote in batch], turn__is_fork=False)
        turns = sorted(turns_of(attempts.with_turns()), key=lambda turn: (turn.battle_id, turn.seq))
        by_battle = {battle_id: list(some) for battle_id, some in groupby(turns, lambda turn: turn.battle_id)}
        for vote in batch:
            yield vote, by_battle.get(vote.battle_id, [])
