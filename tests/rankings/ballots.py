"""Votes for tests: as the mathematics sees them, and as rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from arena.models import Battle, BattleStatus, Contestant, Session, Vote
from rankings.tally.counts import Ballot
from rankings.tally.facts import FACT_KEYS, Fact, VoteFacts
from tests.factories import PolicyFactory, SessionFactory

FIRST_VOTE = datetime(2026, 1, 1, tzinfo=UTC)
MIRROR = {"left_better": "right_better", "right_better": "left_better", "tie": "tie", "both_bad": "both_bad"}


def ballots(*groups: tuple[Any, ...]) -> list[Ballot]:
    """`ballots(("a", "b", "tie", 3), ...)`: left, right, outcome, how many, and optionally the voter."""
    return [
        Ballot(left, right, outcome, *voter) for left, right, outcome, count, *voter in groups for _ in range(count)
    ]


def mirrored(ballot: Ballot) -> Ballot:
    """The same vote with the sides exchanged."""
    return ballot._replace(left=ballot.right, right=ballot.left, outcome=MIRROR[ballot.outcome])


def cast(votes: Sequence[Ballot], session: Session | None = None, start: int = 0) -> list[Vote]:
    """One pending vote row per ballot, a second apart, each on a battle of its own; makes missing policies.

    `start`: seconds after FIRST_VOTE of the first one.
    """
    session = session or SessionFactory()
    for name in sorted({name for vote in votes for name in (vote.left, vote.right)}):
        if not Contestant.objects.filter(pk=name).exists():
            PolicyFactory(id=name)
    seq = Battle.objects.filter(session=session).count()
    battles = Battle.objects.bulk_create(
        Battle(
            session=session,
            seq_in_session=seq + place + 1,
            left_model_id=vote.left,
            right_model_id=vote.right,
            seed=place,
            status=BattleStatus.VOTED,
        )
        for place, vote in enumerate(votes)
    )
    return Vote.objects.bulk_create(
        Vote(
            battle=battle,
            session=session,
            user_id=vote.voter,
            kind=session.kind,
            setting=session.setting,
            scene=session.scene,
            left_model_id=vote.left,
            right_model_id=vote.right,
            vote=vote.outcome,
            voted_at=FIRST_VOTE + timedelta(seconds=start + place),
        )
        for place, (vote, battle) in enumerate(zip(votes, battles, strict=True))
    )


def rows_of(facts: VoteFacts) -> list[Fact]:
    """Sorted."""
    texts = [[facts.values[name][code] for code in facts.codes[name].tolist()] for name in FACT_KEYS]
    columns = [*texts, *(column.tolist() for column in facts.numbers)]
    return sorted(Fact(*row) for row in zip(*columns, strict=True))
