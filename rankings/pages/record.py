"""What a contestant's page tells of its battles: its row of the board, and how the newest ended."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from arena import kinds
from arena.models import Contestant, Vote, VoteChoice
from rankings.api import selectors
from rankings.api.selectors import LeaderboardQuery
from rankings.api.shapes import RankingRow

RECENT = 12


def record_of(contestant: Contestant) -> dict[str, Any]:
    """For the parts record.html and recent.html: `row`, `apart`, `battles`, and in `arena` the name of the page where
    battles begin.
    """
    rows, apart = board_rows(contestant.kind)
    battles = [_seen(vote, contestant) for vote in _recent(contestant)]
    arena = kinds.get(contestant.kind).address
    return {"row": rows.get(contestant.pk), "apart": apart, "battles": battles, "arena": arena}


def board_rows(kind: str = "") -> tuple[dict[str, RankingRow], bool]:
    """The board of a kind, by default that of robots, by contestant, and whether it has several components, between
    which there is no order.
    """
    board = selectors.leaderboard(LeaderboardQuery(kind=kind))
    rows = {row["model_id"]: row for row in [*board["rankings"], *board["provisional"]]}
    return rows, len(board["metadata"]["components"]) > 1


def _recent(contestant: Contestant) -> QuerySet[Vote]:
    """The newest first. One query per side, since no index sorts both sides together."""
    voted = Vote.objects.filter(battle__spoiled=False, battle__hidden_at=None)
    newest = [
        key
        for side in ({"left_model": contestant}, {"right_model": contestant})
        for key in voted.filter(**side).order_by("-voted_at", "-id").values_list("pk", flat=True)[:RECENT]
    ]
    votes = Vote.objects.filter(pk__in=newest).order_by("-voted_at", "-id")
    return votes.select_related("left_model", "right_model").prefetch_related("battle__turns")[:RECENT]


def _seen(vote: Vote, contestant: Contestant) -> dict[str, Any]:
    """A voted battle from the contestant's side. `result`: won, lost, tie or both_bad."""
    left = vote.left_model_id == contestant.pk
    opponent = vote.right_model if left else vote.left_model
    own = VoteChoice.LEFT_BETTER if left else VoteChoice.RIGHT_BETTER
    even = vote.vote in (VoteChoice.TIE, VoteChoice.BOTH_BAD)
    result = str(vote.vote) if even else "won" if vote.vote == own else "lost"
    first = min(vote.battle.turns.all(), key=lambda turn: turn.seq, default=None)
    return {"vote": vote, "opponent": opponent, "result": result, "title": first.public_instruction if first else ""}
