"""After a vote: the record of its pair, and the number of votes on each of the two, as of the last publication.

Counts that followed each vote would tell what others vote, and when.
"""

from __future__ import annotations

from typing import TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena import kinds
from arena.api.schema import answer, refusals
from arena.errors import NotFound
from arena.models import ProcessingStatus, Vote, row_or_none
from arena.visitors.permissions import check_public
from rankings.models import CountedVote
from rankings.publication.published import Published, published
from rankings.tally.counts import MIRRORED, OUTCOMES
from rankings.tally.table import GLOBAL


class PairRecord(TypedDict):
    """Published votes on the pair, without this one, from the view of this battle's sides."""

    votes: int
    left_better: int
    right_better: int
    tie: int
    both_bad: int


class ModelVotes(TypedDict):
    left: int
    right: int


class VoteEffect(TypedDict):
    pair: PairRecord
    model_votes: ModelVotes


class VoteEffectView(APIView):
    @extend_schema(
        operation_id="get_vote_effect",
        summary="The published votes on a battle's pair",
        description="The last publication's votes on the pair of a voted battle, without this vote.",
        responses={200: answer(VoteEffect), **refusals(404, 410)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        columns = ("kind", "vote", "left_model", "right_model", "processing_status")
        whose = ("battle__hidden_at", "battle__session__user_id")
        votes = Vote.objects.filter(battle__battle_id=battle_id).select_related("battle__session")
        vote = row_or_none(votes.only(*columns, *whose))
        if vote is None:
            raise NotFound
        check_public(request, vote.battle)
        return Response(effect_of(vote))


def effect_of(vote: Vote) -> VoteEffect:
    now = published(kinds.get(vote.kind))
    pair = _published(now, vote.left_model_id, vote.right_model_id)
    own = int(_is_published(vote))
    place = OUTCOMES.index(vote.vote)
    pair[place] = max(0, pair[place] - own)
    rows = now.rows(GLOBAL)
    left, right = (
        max(0, rows[name]["votes"] - own) if name in rows else 0 for name in (vote.left_model_id, vote.right_model_id)
    )
    record = dict(zip(OUTCOMES, pair, strict=True))
    return {
        "pair": PairRecord(votes=sum(pair), **record),  # type: ignore[typeddict-item]
        "model_votes": {"left": left, "right": right},
    }


def _published(now: Published, left: str, right: str) -> list[int]:
    """The pair's votes by outcome, in the order of OUTCOMES."""
    low, high = sorted((left, right))
    pairs = now.content.get("pairs", {}) if now.content else {}
    found = list(pairs.get(low, {}).get(high, [0] * len(OUTCOMES)))
    return found if left == low else [found[place] for place in MIRRORED]


def _is_published(vote: Vote) -> bool:
    """Whether the last publication includes the vote."""
    taken = vote.processing_status == ProcessingStatus.PROCESSED
    return taken and CountedVote.objects.filter(vote=vote, counted=True).exists()
