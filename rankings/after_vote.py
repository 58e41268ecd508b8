"""What a vote meets when it is cast: the record of its pair, and how often each of the two has been voted on."""

from __future__ import annotations

from typing import TypedDict

from django.db.models import Q, QuerySet, Sum
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from arena.errors import NotFound
from arena.models import Vote
from arena.schema import answer, refusals
from rankings.models import CountedVote, VoteCount

OUTCOMES = ("left_better", "right_better", "tie", "both_bad")
MIRRORED = {"left_better": "right_better", "right_better": "left_better", "tie": "tie", "both_bad": "both_bad"}


class PairRecord(TypedDict):
    """Counted votes on the same pair without this one, as seen from this battle's sides."""

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
        description="What is known about the pair of a voted battle, this vote left out.",
        responses={200: answer(VoteEffect), **refusals(404)},
    )
    def get(self, request: Request, battle_id: str) -> Response:
        vote = Vote.objects.filter(battle__battle_id=battle_id).first()
        if vote is None:
            raise NotFound
        return Response(effect_of(vote))


def effect_of(vote: Vote) -> VoteEffect:
    here, there = vote.left_model_id, vote.right_model_id
    same, mirrored = _sums(left_model=here, right_model=there), _sums(left_model=there, right_model=here)
    pair = {name: same[name] + mirrored[MIRRORED[name]] for name in OUTCOMES}
    counted = CountedVote.objects.filter(vote=vote, counted=True).exists()
    if counted:
        pair[vote.vote] -= 1
    own = int(counted)
    return {
        "pair": PairRecord(votes=sum(pair.values()), **pair),  # type: ignore[typeddict-item]
        "model_votes": {"left": _votes(here) - own, "right": _votes(there) - own},
    }


def _sums(**pair: str) -> dict[str, int]:
    return _added(VoteCount.objects.filter(**pair))


def _votes(model_id: str) -> int:
    return sum(_added(VoteCount.objects.filter(Q(left_model=model_id) | Q(right_model=model_id))).values())


def _added(rows: QuerySet[VoteCount]) -> dict[str, int]:
    return {name: total or 0 for name, total in rows.aggregate(**{name: Sum(name) for name in OUTCOMES}).items()}
